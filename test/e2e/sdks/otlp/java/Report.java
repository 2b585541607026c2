import ch.qos.logback.classic.Logger;
import io.opentelemetry.instrumentation.logback.appender.v1_0.OpenTelemetryAppender;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/** A shop's log, by OpenTelemetry's SDK for Java: an error with its exception, and a line that is none. */
public class Report {
  static class CartError extends RuntimeException {
    CartError(String message) {
      super(message);
    }
  }

  static int total(List<Integer> lines) {
    if (lines.isEmpty()) throw new CartError("the cart has no lines");
    return lines.size();
  }

  public static void main(String[] args) {
    var sdk = AutoConfiguredOpenTelemetrySdk.initialize().getOpenTelemetrySdk();
    var appender = new OpenTelemetryAppender();
    var log = (Logger) LoggerFactory.getLogger("shop.checkout");
    appender.setContext(log.getLoggerContext());
    appender.setOpenTelemetry(sdk);
    appender.start();
    log.addAppender(appender);
    log.info("a cart was opened");
    try {
      total(List.of());
    } catch (CartError error) {
      log.error("checkout failed", error);
    }
    sdk.getSdkLoggerProvider().shutdown().join(20, TimeUnit.SECONDS);
    sdk.close();
  }
}
