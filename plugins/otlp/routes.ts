import joi from 'joi';
import { withSchemaName, text, type HttpRequest, type RouteSpec } from '../../kernel/contract/index.js';
import { ServiceError } from '../../kernel/errors.js';
import { MAX_JSON_VALUES, parseEventJson } from '../../lib/json/event-json.js';
import type { LogCaller, LogIntake } from './intake.js';
import { parseJsonLogs } from './json-logs.js';
import { InvalidLogsError, type LogRecord, type ParsedLogs } from './log-record.js';
import { JSON_MEDIA_TYPE, PROTOBUF_MEDIA_TYPE } from './media-types.js';

const outputSchema = withSchemaName(
  'LogsAnswer',
  joi.object({
    partialSuccess: joi
      .object({
        rejectedLogRecords: joi
          .string()
          .pattern(/^\d+$/)
          .description('Number of rejected records, as a decimal string like all 64-bit numbers in OTLP'),
        errorMessage: joi.string().description('Why, in a sentence'),
      })
      .description('Omitted if all records became reports'),
  }),
);

const EXCEPTION_ATTRIBUTES = ['exception.type', 'exception.message'] as const;

/** Estimates the exceptions in a body of either encoding: both spell out attribute names. */
export const estimateExceptionCount = (body: unknown): number =>
  Buffer.isBuffer(body) ? Math.max(1, ...EXCEPTION_ATTRIBUTES.map((key) => countOccurrences(body, key))) : 1;

function countOccurrences(bytes: Buffer, word: string): number {
  let count = 0;
  for (let at = bytes.indexOf(word); at >= 0; at = bytes.indexOf(word, at + word.length)) count++;
  return count;
}

export const buildOtlpRoutes = (intake: LogIntake): RouteSpec[] => [
  {
    method: 'POST',
    path: '/v1/logs',
    operationId: 'sendLogs',
    tag: 'otlp',
    summary: 'Receive OpenTelemetry logs',
    description:
      'OTLP over HTTP, JSON or protobuf, also compressed. Records with `exception.type` or `exception.message` become reports of ' +
      'the error stream; others are counted in `partialSuccess.rejectedLogRecords`. The project is that of the key or token; for ' +
      'a token of all projects it is the slug in `service.name`.',
    access: { scope: 'bugtracker:report', intake: true },
    input: { mediaType: [JSON_MEDIA_TYPE, PROTOBUF_MEDIA_TYPE], report: true },
    output: outputSchema,
    plain: true,
    errors: ['invalid_request', 'invalid_json', 'unsupported_media_type'],
    onRefused: () => intake.countRejection(),
    limits: {
      rate: 'intake',
      space: true,
      inflate: true,
      payload: 'raw',
      categories: (body) => new Map([['log', estimateExceptionCount(body)]]),
    },
    handle: async (request) => {
      const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const logs = await parseLogs(bytes, type);
      if (hasEscapedException(logs.records, bytes))
        throw new ServiceError('invalid_request', 'Names of attributes are not escaped.');
      const { rejected, sentence } = await intake.record(logs, toLogCaller(request));
      if (type === PROTOBUF_MEDIA_TYPE) {
        const { encodeProtobufResponse } = await import('./protobuf-logs.js');
        return text(Buffer.from(encodeProtobufResponse(rejected, sentence)), PROTOBUF_MEDIA_TYPE);
      }
      return sentence === null
        ? {}
        : { partialSuccess: { rejectedLogRecords: String(rejected), errorMessage: sentence } };
    },
  },
];

/** JSON may escape a name, which no SDK does: such an exception would be free of charge. */
const hasEscapedException = (records: readonly LogRecord[], bytes: Buffer): boolean =>
  EXCEPTION_ATTRIBUTES.some(
    (key) => records.filter(({ attributes }) => key in attributes).length > countOccurrences(bytes, key),
  );

/** @throws ServiceError invalid_json, invalid_request, unsupported_media_type */
async function parseLogs(bytes: Buffer, type: string | undefined): Promise<ParsedLogs> {
  try {
    // Loaded by the first sender that needs it.
    if (type === PROTOBUF_MEDIA_TYPE) return await (await import('./protobuf-logs.js')).parseProtobufLogs(bytes);
    if (type !== JSON_MEDIA_TYPE) {
      throw new ServiceError(
        'unsupported_media_type',
        `The content type must be ${JSON_MEDIA_TYPE} or ${PROTOBUF_MEDIA_TYPE}.`,
      );
    }
    const body = await parseEventJson(bytes);
    if (body === undefined)
      throw new ServiceError('invalid_json', `The body must be JSON with at most ${MAX_JSON_VALUES} values.`);
    return parseJsonLogs(body);
  } catch (error) {
    if (error instanceof InvalidLogsError) throw new ServiceError('invalid_request', error.message);
    throw error;
  }
}

function toLogCaller({ principal, address }: HttpRequest): LogCaller {
  if (principal.kind === 'token') return { principal, address };
  throw new ServiceError('unauthorized', 'Requires an intake key or a token.');
}
