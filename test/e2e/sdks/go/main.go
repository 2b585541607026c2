// A program that reports with Sentry's SDK for Go: `shop report <dsn>` once of everything, `shop limited <dsn>` ten errors,
// `shop cases <dsn>` errors that are easily taken for one, or named after what carries them.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/getsentry/sentry-go"
	pkgerrors "github.com/pkg/errors"
)

var errNoPrice = errors.New("there is no price")

// CartError tells which cart failed.
type CartError struct {
	Cart  string
	Cause error
}

func (e *CartError) Error() string { return fmt.Sprintf("the cart '%s' has no price", e.Cart) }
func (e *CartError) Unwrap() error { return e.Cause }

func total(cart string) {
	sentry.CaptureException(&CartError{Cart: cart, Cause: fmt.Errorf("price: %w", errNoPrice)})
}

func report() {
	sentry.ConfigureScope(func(scope *sentry.Scope) {
		scope.SetTag("shop", "eu")
		scope.SetUser(sentry.User{ID: "4711", Username: "jane"})
		scope.SetContext("cart", sentry.Context{"id": "A-1001", "items": 3})
	})
	sentry.StartTransaction(context.Background(), "checkout").Finish()
	sentry.AddBreadcrumb(&sentry.Breadcrumb{Category: "cart", Message: "opened", Level: sentry.LevelInfo})
	for range 2 {
		total("A-1001")
		sentry.CaptureMessage("stock is low")
	}
	sentry.Flush(10 * time.Second)
}

func limited() {
	for range 10 {
		total("A-1001")
		sentry.Flush(10 * time.Second)
	}
}

// StockError has a name of its own, and is carried by one that has none.
type StockError struct{}

func (e *StockError) Error() string { return "the stock is unknown" }

func book() { sentry.CaptureException(&CartError{Cart: "A-1001"}) }

func cancel() { sentry.CaptureException(&CartError{Cart: "A-1002"}) }

func stock() error { return pkgerrors.WithStack(&StockError{}) }

func cases() {
	book()
	cancel()
	sentry.CaptureException(stock())
	sentry.CaptureException(fmt.Errorf("checkout: %w", errNoPrice))
	sentry.Flush(10 * time.Second)
}

func main() {
	err := sentry.Init(sentry.ClientOptions{
		Dsn:              os.Args[2],
		Release:          "shop@1.4.2+7",
		Environment:      "production",
		ServerName:       "web-1",
		EnableTracing:    os.Args[1] == "report",
		TracesSampleRate: 1,
	})
	if err != nil {
		panic(err)
	}
	switch os.Args[1] {
	case "report":
		report()
	case "limited":
		limited()
	case "cases":
		cases()
	}
	fmt.Println("done")
}
