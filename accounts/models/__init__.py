"""Tables of teams, members, keys and the audit."""

from accounts.models.api_call import ApiCall, ApiCallTally
from accounts.models.api_key import ApiKey
from accounts.models.assistant_call import AssistantCall
from accounts.models.audit import AuditEntry, AuditSeal
from accounts.models.call_window import CallWindow
from accounts.models.go_live import GoLiveTry
from accounts.models.invitation import Invitation
from accounts.models.mail_text import MailText
from accounts.models.management_key import ManagementKey
from accounts.models.member import Member
from accounts.models.member_session import MemberSession
from accounts.models.notice import Notice, NoticeChoices, NoticeCopy, NoticeMail
from accounts.models.retention import RetentionRule
from accounts.models.saved_view import SavedView
from accounts.models.sign_in import (
    SignInRules,
    SingleSignOn,
    SingleSignOnIdentity,
)
from accounts.models.team import Membership, Organisation, Team, Tenant
from accounts.models.used_assertion import UsedAssertion

__all__ = [
    "ApiCall",
    "ApiCallTally",
    "ApiKey",
    "AssistantCall",
    "AuditEntry",
    "AuditSeal",
    "CallWindow",
    "GoLiveTry",
    "Invitation",
    "MailText",
    "ManagementKey",
    "Member",
    "MemberSession",
    "Membership",
    "Notice",
    "NoticeChoices",
    "NoticeCopy",
    "NoticeMail",
    "Organisation",
    "RetentionRule",
    "SavedView",
    "SignInRules",
    "SingleSignOn",
    "SingleSignOnIdentity",
    "Team",
    "Tenant",
    "UsedAssertion",
]
