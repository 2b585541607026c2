"""A shop's log, by OpenTelemetry's SDK for Python: an error with its exception, and a line that is none."""

import logging

from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource


class CartError(Exception):
    pass


def total(lines):
    if not lines:
        raise CartError("the cart has no lines")


provider = LoggerProvider(resource=Resource.create({"service.name": "shop", "service.version": "1.4.2"}))
provider.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
log = logging.getLogger("shop.checkout")
log.addHandler(LoggingHandler(logger_provider=provider))
log.setLevel(logging.INFO)
log.info("a cart was opened")
try:
    total([])
except CartError:
    log.exception("checkout failed")
provider.shutdown()
