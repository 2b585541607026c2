import joi from 'joi';
import { named, type HttpRequest, type RouteSpec } from '../../kernel/contract.js';
import { ServiceError } from '../../kernel/errors.js';
import { Reply } from '../../ports/http.js';
import { keyOf } from './credential.js';
import { readEnvelope, type Envelope } from './envelope.js';
import { EnvelopeSieve } from './envelope-sieve.js';
import type { SentryCaller, SentryIntake } from './intake.js';
import { countCategories, limitsHeader, quietHeader } from './skipped.js';

const params = joi.object({
  number: joi
    .string()
    .pattern(/^\d{1,15}$/)
    .required()
    .description('Number of the project, from its DSN'),
});
const query = joi.object({ sentry_key: joi.any().description('The intake key, where no header has it') });

const output = named(
  'SentryAnswer',
  joi.object({
    id: joi.string().description('Id of the event: the client_ref of its occurrence'),
    warnings: joi.array().items(joi.string()).description('What was left out or replaced; missing: nothing'),
  }),
);

const shared = {
  method: 'POST',
  tag: 'sentry',
  access: { scope: 'bugtracker:report', intake: true },
  output,
  plain: true,
  cors: true,
  credential: keyOf,
  credentialIn: [
    { in: 'header', name: 'X-Sentry-Auth' },
    { in: 'query', name: 'sentry_key' },
  ],
  errors: ['unknown_project', 'validation_failed'],
} satisfies Partial<RouteSpec>;

const NOTHING_LIMITED: ReadonlyMap<string, number> = new Map();
const RATE_LIMITS = 'x-sentry-rate-limits';

const limits = { rate: 'intake', space: true, inflate: true, payload: 'raw' } satisfies RouteSpec['limits'];

const refused = (seconds: number): Record<string, string> => ({ [RATE_LIMITS]: `${seconds}::key` });

const KEY =
  'The key is in `X-Sentry-Auth`, in `?sentry_key=`, or in the DSN of the envelope’s header. Bodies may be compressed ' +
  '(gzip, deflate, br, zstd) and need no content type.';

export const routes = (intake: SentryIntake): RouteSpec[] => [
  {
    ...shared,
    path: '/api/{number}/envelope/',
    operationId: 'sendEnvelope',
    onRefused: () => intake.refused(),
    input: { params, query, report: true },
    aliases: ['/api/{number}/envelope'],
    summary: 'Take an envelope of a Sentry SDK',
    description:
      'Events become occurrences of the error stream. Feedback of users (`feedback`, `user_report`) becomes a comment on the item ' +
      'of its event, also of one that comes later, or a bug. Check-ins of jobs (`check_in`) become heartbeats of the monitor ' +
      '`<project>/<monitor slug>`. Sessions (`session`, `sessions`) are counted by version, environment and hour. Other items are skipped, and `X-Sentry-Rate-Limits` asks the SDK to send none of their kind ' +
      `for an hour. ${KEY}`,
    limits: {
      ...limits,
      read: readEnvelope,
      sieve: (most) => new EnvelopeSieve((type) => intake.takes(type), most),
      categories: (body) => {
        const envelope = body as Envelope | string;
        return countCategories(typeof envelope === 'string' ? [] : envelope.items, (type) => intake.takes(type));
      },
      limited: (limited) => ({ [RATE_LIMITS]: limitsHeader(limited) }),
      refused,
    },
    handle: async (request) => {
      const { body, params: path, limited = NOTHING_LIMITED } = request;
      const envelope = body as Envelope | string;
      if (typeof envelope === 'string') throw new ServiceError('invalid_json', envelope);
      const { id, warnings } = await intake.envelope(Number(path['number']), envelope, callerOf(request), limited);
      const answer = { ...(id !== null && { id }), ...(warnings.length > 0 && { warnings }) };
      const quiet = quietHeader(envelope.items, (type) => intake.takes(type), limited);
      return quiet === null ? answer : new Reply(200, answer).header(RATE_LIMITS, quiet);
    },
  },
  {
    ...shared,
    path: '/api/{number}/store/',
    operationId: 'storeEvent',
    onRefused: () => intake.refused(),
    input: { params, query, mediaType: 'application/json', report: true },
    aliases: ['/api/{number}/store'],
    summary: 'Take one event of an older Sentry SDK',
    description: `The body is the event itself, as JSON. ${KEY}`,
    limits: { ...limits, refused: (seconds) => ({ [RATE_LIMITS]: `${seconds}:error:key` }) },
    handle: async (request) => {
      const { id, warnings } = await intake.event(
        Number(request.params['number']),
        request.body as Buffer,
        callerOf(request),
      );
      return { id, ...(warnings.length > 0 && { warnings }) };
    },
  },
];

function callerOf({ principal, address }: HttpRequest): SentryCaller {
  if (principal.kind === 'token') return { principal, address };
  throw new ServiceError('unauthorized', 'This needs an intake key.');
}
