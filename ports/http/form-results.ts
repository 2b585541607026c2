/** Each form runs once, and its result is shown once (contract 80, conduct). */
export interface SessionRef {
  session_id: string;
}

/** Result of a form. */
export interface FormRunResult<T> {
  answer: T;
  /** Null when nothing changed and the form may be sent again. */
  location: string | null;
}

/** Stores form results for an hour, shared by all processes. */
export interface FormResultStore {
  /**
   * Runs a form once; concurrent calls in this process wait.
   * @param form identical for the same form and content
   * @param run must throw only if nothing changed
   * @returns its result, or the first run's redirect; null there: another process runs it, or ended
   */
  runOnce<T>(
    session: SessionRef,
    form: string,
    run: () => Promise<FormRunResult<T>>,
  ): Promise<{ answer: T } | { sentBefore: string | null }>;
  /**
   * Encrypted, for one read.
   * @returns 32 hexadecimal digits
   */
  saveText(session: SessionRef, text: string): Promise<string>;
  /** Null when read before, an hour old, or of another session. */
  takeText(session: SessionRef, id: string): Promise<string | null>;
}
