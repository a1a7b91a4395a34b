// Call the demo through the client of openapi-generator: java Smoke URL KEY
import com.example.assay.ApiClient;
import com.example.assay.ApiException;
import com.example.assay.api.LabTestsApi;
import com.example.assay.api.SamplesApi;
import com.example.assay.api.UsersApi;
import com.example.assay.model.UserAnswer;
import com.example.assay.model.UserInputsRequest;
import com.example.assay.model.UserList;
import java.time.OffsetDateTime;
import java.util.Comparator;
import java.util.UUID;

public class Smoke {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(args[0]);
    client.setRequestInterceptor(call -> call.header("x-service-api-key", args[1]));
    UsersApi users = new UsersApi(client);
    String ownId = "generated-" + UUID.randomUUID();

    UserAnswer made = users.createUser(new UserInputsRequest().clientUserId(ownId));
    check(made.getClientUserId().equals(ownId), made);
    check(made.getFallbackTimeZone().getId().equals("UTC"), made);
    check(made.getFallbackBirthDate() == null, made);
    String userId = made.getUserId().toString();
    check(users.getUser(userId).equals(made), made);
    UserList page = users.listUsers(100, 0L);
    check(page.getTotal() == page.getUsers().size(), page);
    check(page.getUsers().stream().anyMatch(each -> each.equals(made)), page);
    UserAnswer rich = page.getUsers().stream()
        .max(Comparator.comparing(each -> each.getConnectedSources().size())).get();
    check(new SamplesApi(client).listGroupedSamples(
        "heartrate", OffsetDateTime.now().minusDays(2).toString(),
        rich.getUserId().toString(), null, null, null, null, null
    ).getGroups() != null, rich);
    check(!new LabTestsApi(client).listLabs().isEmpty(), "labs");
    check(users.deleteUser(userId).getSuccess(), made);
    try {
      users.getUser(userId);
      check(false, made);
    } catch (ApiException gone) {
      check(gone.getCode() == 404, gone);
    }
  }

  private static void check(boolean holds, Object seen) {
    if (!holds) {
      throw new AssertionError(String.valueOf(seen));
    }
  }
}
