/** How the packager ends (contract 90, packager). */
export const EXIT = {
  done: 0,
  error: 1,
  /** `latest.json` cannot be read, or the service refused it. */
  latest: 2,
  versionMismatch: 3,
  /** The package breaks a rule, or the service refused it. */
  refused: 4,
  /** Wrong usage: an option is missing, unknown or has a wrong value. */
  usage: 64,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What ends the packager: one sentence that names the mend, and the code of its exit. */
export class PackagerFailure extends Error {
  override name = 'PackagerFailure';
  constructor(
    readonly exit: ExitCode,
    message: string,
  ) {
    super(message);
  }
}
