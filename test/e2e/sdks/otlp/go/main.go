// A shop's log, by OpenTelemetry's SDK for Go: an error with its exception, and a line that is none.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/log"
	sdk "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
)

var errCart = errors.New("the cart has no lines")

func record(severity log.Severity, body string, attributes ...attribute.KeyValue) log.Record {
	var r log.Record
	r.SetTimestamp(time.Now())
	r.SetSeverity(severity)
	r.SetBody(attribute.StringValue(body))
	r.AddAttributes(attributes...)
	return r
}

func main() {
	ctx := context.Background()
	exporter, err := otlploghttp.New(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	about := resource.NewSchemaless(attribute.String("service.name", "shop"), attribute.String("service.version", "1.4.2"))
	provider := sdk.NewLoggerProvider(sdk.WithResource(about), sdk.WithProcessor(sdk.NewBatchProcessor(exporter)))
	logger := provider.Logger("shop.checkout")
	logger.Emit(ctx, record(log.SeverityInfo, "a cart was opened"))
	logger.Emit(ctx, record(log.SeverityError, "checkout failed",
		attribute.String("exception.type", fmt.Sprintf("%T", errCart)),
		attribute.String("exception.message", errCart.Error()),
		attribute.String("exception.stacktrace", string(debug.Stack()))))
	// What was not taken, the line that is no error, comes back as an error too.
	fmt.Fprintln(os.Stderr, provider.Shutdown(ctx))
}
