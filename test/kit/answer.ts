/** What a request in a test came back with. */

export class TestAnswer<T = Record<string, unknown>> {
  constructor(
    readonly status: number,
    readonly headers: Readonly<Record<string, string | string[] | undefined>>,
    /** As it came: HTML of a page, JSON of a route. */
    readonly text: string,
  ) {}

  /** The parsed JSON. @throws SyntaxError when it is none */
  get body(): T {
    return JSON.parse(this.text) as T;
  }

  /** Code of a refusal, undefined for a success. */
  get code(): string | undefined {
    return this.#error?.code;
  }

  /** Field → fault of a refusal. */
  get fields(): Readonly<Record<string, string>> | undefined {
    return this.#error?.fields;
  }

  get #error(): { code?: string; fields?: Record<string, string> } | undefined {
    return (this.body as { error?: { code?: string; fields?: Record<string, string> } }).error;
  }

  /** Where a redirect leads. */
  get location(): string | undefined {
    const { location } = this.headers;
    return Array.isArray(location) ? location[0] : location;
  }
}
