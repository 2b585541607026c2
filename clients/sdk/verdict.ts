/**
 * Transient or definite (contract 90, SDK): a license status, or 401, 404 and 422 in our JSON, are definite; everything
 * else is transient, another server's page included. Pure.
 */
import { isLicenseStatus } from '../../lib/formats/license-status.js';
import type { Exchange } from './transport.js';

/** What went wrong, for people and for programs. */
export interface ServiceProblem {
  /** The service's error code; `network`, or `http_<status>` for what it did not say. */
  code: string;
  message: string;
  /** What is wrong with which field of what was sent, where the service says so. */
  fields?: Readonly<Record<string, string>>;
}

export type Verdict =
  | { kind: 'answer'; body: Record<string, unknown> }
  | { kind: 'refused'; status: number; problem: ServiceProblem }
  | { kind: 'transient'; status: number | null; problem: ServiceProblem };

const DEFINITE: ReadonlySet<number> = new Set([401, 404, 422]);
/** How the license endpoints say so, which answer without the envelope (contract 50). */
const UNENVELOPED: Readonly<Record<number, readonly string[]>> = {
  401: ['unauthorized'],
  404: ['not_found', 'invalid'],
  422: ['invalid_request', 'validation_failed'],
};

/** Of an answer in the envelope. */
export const judge = (exchange: Exchange): Verdict =>
  isSuccess(exchange) ? { kind: 'answer', body: exchange.body ?? {} } : judgeFailure(exchange);

/** Of an answer of `validate`. */
export const judgeLicense = (exchange: Exchange): Verdict =>
  exchange.status === 200 && exchange.body !== null && isLicenseStatus(exchange.body['status'])
    ? { kind: 'answer', body: exchange.body }
    : judgeFailure(exchange);

const isSuccess = ({ status, body }: Exchange): boolean =>
  status !== null && status >= 200 && status < 300 && body?.['status'] === 'success';

export type FailedVerdict = Exclude<Verdict, { kind: 'answer' }>;

/** How a failure is said in the results of the client's methods. */
export const outcomeOf = ({
  kind,
  status,
  problem,
}: FailedVerdict): { isTransient: boolean; unauthorized: boolean; error: ServiceProblem } => ({
  isTransient: kind === 'transient',
  unauthorized: kind === 'refused' && status === 401,
  error: problem,
});

function judgeFailure({ status, body, fault }: Exchange): Verdict {
  if (status === null)
    return { kind: 'transient', status, problem: { code: 'network', message: fault ?? 'no answer' } };
  const problem = ownProblem(status, body);
  if (problem !== null) return { kind: DEFINITE.has(status) ? 'refused' : 'transient', status, problem };
  const message = `${status}, and not in the way that this service answers`;
  return { kind: 'transient', status, problem: { code: `http_${status}`, message } };
}

/** What our service said; null: this is another server's answer. */
function ownProblem(status: number, body: Record<string, unknown> | null): ServiceProblem | null {
  const { status: named, error } = body ?? {};
  if (named === 'error' && typeof error === 'object' && error !== null && 'code' in error)
    return typeof error.code === 'string' ? problemOf(error.code, error) : null;
  if (typeof named !== 'string' || !(UNENVELOPED[status] ?? []).includes(named)) return null;
  return problemOf(named, body ?? {});
}

function problemOf(code: string, said: object): ServiceProblem {
  const { message, fields } = said as { message?: unknown; fields?: unknown };
  return {
    code,
    message: typeof message === 'string' ? message : code,
    ...(typeof fields === 'object' && fields !== null && { fields: fields as Record<string, string> }),
  };
}
