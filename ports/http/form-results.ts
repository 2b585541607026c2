/**
 * Form results by session: each form runs once, and its result is shown once (contract 80,
 * conduct).
 */
export interface SessionRef {
  session_id: string;
}

/** Result of a form. */
export interface FormRunResult<T> {
  answer: T;
  /** Redirect target; null: nothing changed and the form may be sent again. */
  location: string | null;
}

/**
 * Stores form results for an hour, shared by all processes; provided by the access plugin. Absent:
 * repeated forms run again.
 */
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
  /** Stores an encrypted text for one read. @returns its id: 32 hexadecimal digits */
  saveText(session: SessionRef, text: string): Promise<string>;
  /** Returns and deletes the text; null when read before, an hour old, or of another session. */
  takeText(session: SessionRef, id: string): Promise<string | null>;
}
