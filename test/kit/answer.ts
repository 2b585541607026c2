/** The response to a test request. */

export class TestAnswer<T = Record<string, unknown>> {
  constructor(
    readonly status: number,
    readonly headers: Readonly<Record<string, string | string[] | undefined>>,
    /** The raw body: HTML of a page, JSON of a route. */
    readonly text: string,
  ) {}

  /**
   * The parsed JSON.
   * @throws SyntaxError when the body is not JSON
   */
  get body(): T {
    return JSON.parse(this.text) as T;
  }

  /** Error code; undefined for a success. */
  get code(): string | undefined {
    return this.#error?.code;
  }

  /** Validation errors by field. */
  get fields(): Readonly<Record<string, string>> | undefined {
    return this.#error?.fields;
  }

  get #error(): { code?: string; fields?: Record<string, string> } | undefined {
    return (this.body as { error?: { code?: string; fields?: Record<string, string> } }).error;
  }

  /** Target of a redirect. */
  get location(): string | undefined {
    const { location } = this.headers;
    return Array.isArray(location) ? location[0] : location;
  }
}
