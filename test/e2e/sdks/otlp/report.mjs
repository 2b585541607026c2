/** A shop's log, by OpenTelemetry's SDK for Node, in the encoding that the first argument names. */
import { SeverityNumber } from '@opentelemetry/api-logs';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';

class CartError extends Error {
  name = 'CartError';
}

function total(lines) {
  if (lines.length === 0) throw new CartError('the cart has no lines');
}

const { OTLPLogExporter } = await import(`@opentelemetry/exporter-logs-otlp-${process.argv[2]}`);
const provider = new LoggerProvider({
  resource: resourceFromAttributes({ 'service.name': 'shop', 'service.version': '1.4.2' }),
  processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })],
});
const log = provider.getLogger('shop.checkout');
log.emit({ severityNumber: SeverityNumber.INFO, body: 'a cart was opened' });
try {
  total([]);
} catch (error) {
  log.emit({
    severityNumber: SeverityNumber.ERROR,
    body: 'checkout failed',
    attributes: {
      'exception.type': error.name,
      'exception.message': error.message,
      'exception.stacktrace': error.stack,
    },
  });
}
await provider.shutdown();
