/**
 * Definite are a license status, and 401, 404 and 422 in our JSON (contract 90, SDK); everything
 * else is transient.
 */
import { isLicenseStatus } from '../../lib/formats/license-status.js';
import type { Exchange } from './transport.js';

/** A problem with a machine-readable code and a message. */
export interface ServiceProblem {
  /** The service's error code; `network`, or `http_<status>` when it sent none. */
  code: string;
  message: string;
  /** Messages by invalid field, if the service sent them. */
  fields?: Readonly<Record<string, string>>;
}

export type ResponseVerdict =
  | { kind: 'answer'; body: Record<string, unknown> }
  | { kind: 'refused'; status: number; problem: ServiceProblem }
  | { kind: 'transient'; status: number | null; problem: ServiceProblem };

const DEFINITE_STATUSES: ReadonlySet<number> = new Set([401, 404, 422]);
/** Error codes of the license endpoints, which respond without the envelope (contract 50). */
const UNENVELOPED_CODES: Readonly<Record<number, readonly string[]>> = {
  401: ['unauthorized'],
  404: ['not_found', 'invalid'],
  422: ['invalid_request', 'validation_failed'],
};

export const evaluateResponse = (exchange: Exchange): ResponseVerdict =>
  isSuccess(exchange) ? { kind: 'answer', body: exchange.body ?? {} } : evaluateFailure(exchange);

export const evaluateLicenseResponse = (exchange: Exchange): ResponseVerdict =>
  exchange.status === 200 && exchange.body !== null && isLicenseStatus(exchange.body['status'])
    ? { kind: 'answer', body: exchange.body }
    : evaluateFailure(exchange);

const isSuccess = ({ status, body }: Exchange): boolean =>
  status !== null && status >= 200 && status < 300 && body?.['status'] === 'success';

export type FailedVerdict = Exclude<ResponseVerdict, { kind: 'answer' }>;

export const toFailureFields = ({
  kind,
  status,
  problem,
}: FailedVerdict): { isTransient: boolean; unauthorized: boolean; error: ServiceProblem } => ({
  isTransient: kind === 'transient',
  unauthorized: kind === 'refused' && status === 401,
  error: problem,
});

function evaluateFailure({ status, body, fault }: Exchange): ResponseVerdict {
  if (status === null)
    return { kind: 'transient', status, problem: { code: 'network', message: fault ?? 'no response' } };
  const problem = parseProblem(status, body);
  if (problem !== null) return { kind: DEFINITE_STATUSES.has(status) ? 'refused' : 'transient', status, problem };
  const message = `${status}, but not as an AOS service`;
  return { kind: 'transient', status, problem: { code: `http_${status}`, message } };
}

/** Returns our service's problem; null when another server responded. */
function parseProblem(status: number, body: Record<string, unknown> | null): ServiceProblem | null {
  const { status: named, error } = body ?? {};
  if (named === 'error' && typeof error === 'object' && error !== null && 'code' in error)
    return typeof error.code === 'string' ? toProblem(error.code, error) : null;
  if (typeof named !== 'string' || !(UNENVELOPED_CODES[status] ?? []).includes(named)) return null;
  return toProblem(named, body ?? {});
}

function toProblem(code: string, body: object): ServiceProblem {
  const { message, fields } = body as { message?: unknown; fields?: unknown };
  return {
    code,
    message: typeof message === 'string' ? message : code,
    ...(typeof fields === 'object' && fields !== null && { fields: fields as Record<string, string> }),
  };
}
