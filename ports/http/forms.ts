/**
 * Form results by session: each form runs once, and its result is shown once (contract 80,
 * conduct).
 */
export interface SessionOf {
  session_id: string;
}

/** Result of a form. */
export interface CarriedOut<T> {
  answer: T;
  /** Redirect target; null: nothing changed and the form may be sent again. */
  location: string | null;
}

/**
 * Stores form results for an hour, shared by all processes; provided by the access plugin. Absent:
 * repeated forms run again.
 */
export interface FormMemory {
  /**
   * Runs a form once; concurrent calls in this process wait.
   * @param form identical for the same form and content
   * @param run must throw only if nothing changed
   * @returns its result, or the first run's redirect; null there: another process runs it, or ended
   */
  once<T>(
    session: SessionOf,
    form: string,
    run: () => Promise<CarriedOut<T>>,
  ): Promise<{ answer: T } | { sentBefore: string | null }>;
  /** Stores an encrypted text for one read. @returns its id: 32 hexadecimal digits */
  keep(session: SessionOf, text: string): Promise<string>;
  /** Returns and deletes the text; null when read before, an hour old, or of another session. */
  look(session: SessionOf, id: string): Promise<string | null>;
}
