/** Exit codes of the packager (contract 90, packager). */
export const EXIT_CODES = {
  done: 0,
  error: 1,
  /** `latest.json` cannot be read, or the service rejected the request. */
  latest: 2,
  versionMismatch: 3,
  /** The package breaks a rule, or the service rejected it. */
  refused: 4,
  usage: 64,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

/** Ends the packager with an exit code and one sentence that names the fix. */
export class PackagerFailure extends Error {
  override name = 'PackagerFailure';
  constructor(
    readonly exit: ExitCode,
    message: string,
  ) {
    super(message);
  }
}
