/**
 * What has come of the forms of a session, so that each is carried out once and what it made is shown once (contract
 * 80, conduct).
 */
/** The session that a form is of. */
export interface SessionOf {
  session_id: string;
}

/** What carrying out a form came to. */
export interface CarriedOut<T> {
  answer: T;
  /** The address that it was answered with; null when it has changed nothing and may be sent again. */
  location: string | null;
}

/**
 * Provided by the access plugin, for an hour and for every process. Absent: a form is carried out each time it is sent.
 */
export interface FormMemory {
  /**
   * Carries a form out, unless it was before. One that this process is carrying out is waited for.
   * @param form the same text for the same form with the same content
   * @param run a throw means that nothing was changed
   * @returns what `run` gave, or where the form was answered the first time; null there: another process still works on
   * it,
   *   or has ended meanwhile
   */
  once<T>(
    session: SessionOf,
    form: string,
    run: () => Promise<CarriedOut<T>>,
  ): Promise<{ answer: T } | { sentBefore: string | null }>;
  /** Keeps a text for one look, encrypted. @returns its id: 32 hexadecimal digits */
  keep(session: SessionOf, text: string): Promise<string>;
  /** The text, and it is gone; null when it was looked at before, is an hour old, or is another session's. */
  look(session: SessionOf, id: string): Promise<string | null>;
}
