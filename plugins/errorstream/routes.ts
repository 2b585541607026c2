import type { HttpRequest, Principal, RouteSpec } from '../../kernel/contract/index.js';
import { ServiceError } from '../../kernel/errors.js';
import { Reply, type TokenPrincipal } from '../../ports/http/index.js';
import { reportOutputSchemas } from './response.js';
import { intakeBodySchema, type ErrorBody } from './report-body.js';
import type { ErrorReportIntake } from './intake.js';

export const buildErrorRoutes = (intake: ErrorReportIntake): RouteSpec[] => [
  {
    method: 'POST',
    path: '/api/errors/v1/report',
    operationId: 'reportError',
    summary: 'Report a runtime error, or up to 100 of them',
    description:
      'For exception handlers of applications. One object returns 201 for a new group and 200 for a counted occurrence; a list ' +
      'of up to 100 objects (for which clients generated from this document have no type) returns 200 with `results`, in the same order, each the response for a single report or `{error}`. Values over their ' +
      'limit are truncated and listed in `truncated`; secrets are scrubbed before storing. Bodies may be compressed ' +
      '(gzip, deflate, br, zstd). A project’s public intake key can be used instead of a token, also from browsers.',
    access: { scope: 'bugtracker:report', intake: true },
    input: { body: intakeBodySchema, report: true },
    output: reportOutputSchemas,
    errors: ['unknown_project'],
    cors: true,
    limits: { rate: 'intake', space: true, inflate: true, cost: countReports },
    onRefused: () => intake.countRejection('app'),
    handle: (request) => handleReports(intake, request),
  },
];

/** See contract 00, limits. */
export const countReports = (body: unknown): number => (Array.isArray(body) ? body.length : 1);

async function handleReports(intake: ErrorReportIntake, { body, principal, address }: HttpRequest): Promise<Reply> {
  const caller = { principal: getTokenPrincipal(principal), address };
  if (Array.isArray(body)) return new Reply(200, { results: await intake.recordMany(body, caller) });
  const answer = await intake.recordOne(body as ErrorBody, caller);
  return new Reply(answer.created ? 201 : 200, answer);
}

function getTokenPrincipal(principal: Principal): TokenPrincipal {
  if (principal.kind === 'token') return principal;
  throw new ServiceError('unauthorized', 'Requires a token.');
}
