import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** A Java program whose default exception handler reports to AOS (JDK classes only). */
public class Shipping {
    public static void main(String[] args) {
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> report(error));
        label(args[0]);
    }

    static String label(String parcel) {
        return new Address(null).line() + parcel;
    }

    record Address(String street) {
        String line() {
            if (street == null) throw new IllegalStateException("parcel has no street");
            return street;
        }
    }

    static void report(Throwable error) {
        StringWriter trace = new StringWriter();
        error.printStackTrace(new PrintWriter(trace));
        String body = "{\"project\":" + json(System.getenv("SVC_PROJECT")) + ",\"error_level\":\"error\",\"error_message\":"
            + json(error.getMessage()) + ",\"exception_class\":" + json(error.getClass().getName()) + ",\"stack_trace\":"
            + json(trace.toString()) + ",\"environment\":\"production\",\"app_version\":\"1.4.0\",\"tags\":[\"java\"]}";
        HttpRequest request = HttpRequest.newBuilder(URI.create(System.getenv("SVC_URL") + "/api/errors/v1/report"))
            .header("Content-Type", "application/json").header("Authorization", "Bearer " + System.getenv("SVC_TOKEN"))
            .POST(HttpRequest.BodyPublishers.ofString(body)).build();
        try {
            System.out.println(HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body());
        } catch (Exception unreachable) {
            System.err.println("could not report: " + unreachable);
        }
    }

    static String json(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') out.append('\\').append(c);
            else if (c < ' ') out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        return out.append('"').toString();
    }
}
