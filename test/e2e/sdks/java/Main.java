// A program that reports with Sentry's SDK for Java: `Main.java report <dsn>` once of everything, `limited` ten errors.
package shop.cart;

import io.sentry.Breadcrumb;
import io.sentry.Sentry;
import io.sentry.SentryLevel;
import io.sentry.protocol.User;
import java.util.Map;

public class Main {
  static class CartException extends RuntimeException {
    CartException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  static int price(Map<String, Integer> cart) {
    return cart.get("price");
  }

  static int total(Map<String, Integer> cart) {
    try {
      return price(cart);
    } catch (NullPointerException error) {
      throw new CartException("the cart 'A-1001' has no price", error);
    }
  }

  static void fail() {
    try {
      total(Map.of());
    } catch (CartException error) {
      Sentry.captureException(error);
    }
  }

  static void report() {
    Sentry.startSession();
    Sentry.startTransaction("checkout", "task").finish();
    Sentry.configureScope(scope -> {
      scope.setTag("shop", "eu");
      User user = new User();
      user.setId("4711");
      user.setUsername("jane");
      scope.setUser(user);
      scope.setContexts("cart", Map.of("id", "A-1001", "items", 3));
    });
    Breadcrumb breadcrumb = new Breadcrumb("opened");
    breadcrumb.setCategory("cart");
    Sentry.addBreadcrumb(breadcrumb);
    for (int i = 0; i < 2; i++) {
      fail();
      Sentry.captureMessage("stock is low", SentryLevel.INFO);
    }
    Sentry.endSession();
    Sentry.flush(10_000);
  }

  static void limited() {
    for (int i = 0; i < 10; i++) {
      fail();
      Sentry.flush(10_000);
    }
  }

  public static void main(String[] args) {
    Sentry.init(options -> {
      options.setDsn(args[1]);
      options.setRelease("shop@1.4.2+7");
      options.setEnvironment("production");
      options.setServerName("web-1");
      if (args[0].equals("report")) options.setTracesSampleRate(1.0);
    });
    if (args[0].equals("report")) report();
    else limited();
    Sentry.close();
    System.out.println("done");
  }
}
