import joi from 'joi';
import { withSchemaName, type HttpRequest, type RouteSpec } from '../../kernel/contract/index.js';
import { ServiceError } from '../../kernel/errors.js';
import { Reply } from '../../ports/http/index.js';
import { findIntakeKey } from './credential.js';
import { parseEnvelope, type Envelope } from './envelope.js';
import { EnvelopeFilter } from './envelope-filter.js';
import type { SentryCaller, SentryIntake } from './intake.js';
import { countCategories, formatLimits, buildRateLimitsHeader } from './sdk-rate-limits.js';

const paramsSchema = joi.object({
  number: joi
    .string()
    .pattern(/^\d{1,15}$/)
    .required()
    .description('Number of the project, from its DSN'),
});
const querySchema = joi.object({ sentry_key: joi.any().description('The intake key, if no header contains it') });

const outputSchema = withSchemaName(
  'SentryAnswer',
  joi.object({
    id: joi.string().description('ID of the event: the client_ref of its occurrence'),
    warnings: joi.array().items(joi.string()).description('What was omitted or replaced; omitted if nothing was'),
  }),
);

const sharedRouteOptions = {
  method: 'POST',
  tag: 'sentry',
  access: { scope: 'bugtracker:report', intake: true },
  output: outputSchema,
  plain: true,
  cors: true,
  credential: findIntakeKey,
  credentialIn: [
    { in: 'header', name: 'X-Sentry-Auth' },
    { in: 'query', name: 'sentry_key' },
  ],
  errors: ['unknown_project', 'validation_failed'],
} satisfies Partial<RouteSpec>;

const NO_LIMITS: ReadonlyMap<string, number> = new Map();
const RATE_LIMITS_HEADER = 'x-sentry-rate-limits';

const routeLimits = { rate: 'intake', space: true, inflate: true, payload: 'raw' } satisfies RouteSpec['limits'];

const buildRejectedHeaders = (seconds: number): Record<string, string> => ({ [RATE_LIMITS_HEADER]: `${seconds}::key` });

const KEY_DESCRIPTION =
  'The key is in `X-Sentry-Auth`, in `?sentry_key=`, or in the DSN of the envelope’s header. Bodies may be compressed ' +
  '(gzip, deflate, br, zstd) and need no content type.';

export const buildSentryRoutes = (intake: SentryIntake): RouteSpec[] => [
  {
    ...sharedRouteOptions,
    path: '/api/{number}/envelope/',
    operationId: 'sendEnvelope',
    onRefused: () => intake.countRejection(),
    input: { params: paramsSchema, query: querySchema, report: true },
    aliases: ['/api/{number}/envelope'],
    summary: 'Receive an envelope from a Sentry SDK',
    description:
      'Events become occurrences of the error stream. Feedback of users (`feedback`, `user_report`) becomes a comment on the item ' +
      'of its event, even if the event arrives later, or a bug. Check-ins of jobs (`check_in`) become heartbeats of the monitor ' +
      '`<project>/<monitor slug>`. Sessions (`session`, `sessions`) are counted by version, environment and hour. Other items are skipped, and `X-Sentry-Rate-Limits` tells the SDK not to send them ' +
      `for an hour. ${KEY_DESCRIPTION}`,
    limits: {
      ...routeLimits,
      read: parseEnvelope,
      sieve: (most) => new EnvelopeFilter((type) => intake.accepts(type), most),
      categories: (body) => {
        const envelope = body as Envelope | string;
        return countCategories(typeof envelope === 'string' ? [] : envelope.items, (type) => intake.accepts(type));
      },
      limited: (limited) => ({ [RATE_LIMITS_HEADER]: formatLimits(limited) }),
      refused: buildRejectedHeaders,
    },
    handle: async (request) => {
      const { body, params: path, limited = NO_LIMITS } = request;
      const envelope = body as Envelope | string;
      if (typeof envelope === 'string') throw new ServiceError('invalid_json', envelope);
      const { id, warnings } = await intake.recordEnvelope(
        Number(path['number']),
        envelope,
        toSentryCaller(request),
        limited,
      );
      const answer = { ...(id !== null && { id }), ...(warnings.length > 0 && { warnings }) };
      const quiet = buildRateLimitsHeader(envelope.items, (type) => intake.accepts(type), limited);
      return quiet === null ? answer : new Reply(200, answer).header(RATE_LIMITS_HEADER, quiet);
    },
  },
  {
    ...sharedRouteOptions,
    path: '/api/{number}/store/',
    operationId: 'storeEvent',
    onRefused: () => intake.countRejection(),
    input: { params: paramsSchema, query: querySchema, mediaType: 'application/json', report: true },
    aliases: ['/api/{number}/store'],
    summary: 'Receive one event from an older Sentry SDK',
    description: `The body is the event itself, as JSON. ${KEY_DESCRIPTION}`,
    limits: { ...routeLimits, refused: (seconds) => ({ [RATE_LIMITS_HEADER]: `${seconds}:error:key` }) },
    handle: async (request) => {
      const { id, warnings } = await intake.recordEvent(
        Number(request.params['number']),
        request.body as Buffer,
        toSentryCaller(request),
      );
      return { id, ...(warnings.length > 0 && { warnings }) };
    },
  },
];

function toSentryCaller({ principal, address }: HttpRequest): SentryCaller {
  if (principal.kind === 'token') return { principal, address };
  throw new ServiceError('unauthorized', 'Requires an intake key.');
}
