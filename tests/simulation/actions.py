"""What can happen in a run, and how often."""

from __future__ import annotations

from tests.simulation import clients, desk, labs, visits
from tests.simulation.world import Actions, World

ACTIONS = Actions(
    first=(clients.create_user, clients.place_order, clients.place_order),
    weights={
        clients.send_samples: 9,
        clients.place_order: 4,
        clients.create_user: 2,
        clients.simulate: 3,
        clients.cancel: 2,
        clients.cancel_in_browser: 1,
        clients.delete_user: 2,
        clients.undo_delete: 2,
        visits.book: 6,
        visits.reschedule: 3,
        visits.cancel_visit: 3,
        desk.upload_report: 4,
        desk.review: 4,
        labs.report_results: 7,
        labs.ship: 4,
        World.wait: 4,
        World.pack: 2,
        World.sweep: 2,
        World.work: 6,
        World.deliver: 4,
        World.trespass: 2,
    },
)
