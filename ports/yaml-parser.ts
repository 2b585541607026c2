/** Parses YAML in a thread, because a document of a mebibyte would block the event loop. */
export interface YamlParser {
  /**
   * Parses one YAML 1.2 document to values that JSON has.
   * @throws YamlRejected
   */
  parse(text: string): Promise<unknown>;
}

/** The message follows `is not YAML: `. */
export class YamlRejected extends Error {
  override name = 'YamlRejected';
}
