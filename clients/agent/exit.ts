/** Outcomes by name; docs/update-agent-reference.md explains them to administrators. */
export const EXIT_CODES = {
  done: 0,
  error: 1,
  unauthorized: 2,
  unverified: 3,
  rolledBack: 4,
  rollbackIncomplete: 5,
  busy: 6,
  waitTimedOut: 7,
  transient: 8,
  spaceOrPermission: 9,
  runtimeMissing: 10,
  cancelled: 11,
  usage: 64,
} as const;

export type AgentOutcome = keyof typeof EXIT_CODES;

/** Ends the run with the code of its outcome; one sentence. */
export class AgentFailure extends Error {
  override name = 'AgentFailure';

  constructor(
    readonly outcome: Exclude<AgentOutcome, 'done'>,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const SPACE_OR_PERMISSION_CODES = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EACCES', 'EPERM', 'EROFS']);

export const getErrorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Disk space and permissions are exit 9, an aborted wait 11, everything else 1. */
export function toAgentFailure(error: unknown): AgentFailure {
  if (error instanceof AgentFailure) return error;
  if (error instanceof Error && error.cause instanceof AgentFailure && error.name === 'AbortError') return error.cause;
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && error.name === 'AbortError')
    return new AgentFailure('cancelled', 'cancelled', { cause: error });
  const outcome = SPACE_OR_PERMISSION_CODES.has(getErrorCode(error)) ? 'spaceOrPermission' : 'error';
  return new AgentFailure(outcome, text, { cause: error });
}
