/**
 * An agent's side of `/mcp`, by hand: JSON-RPC over HTTP, with what a model writes and reads
 * counted.
 */

/**
 * Characters of a token in an answer, whose ids, times and traces are short tokens (o200k: 2.6 to
 * 2.9).
 */
export const PER_TOKEN = 2.7;
/** Characters of a token in instructions and schemas (o200k: 4.1). */
export const PER_TOKEN_OF_TOOLS = 4;

/** Tokens by the form of the answers that a client gives its model. */
export interface Tokens {
  text: number;
  structured: number;
}

export interface ToolAnswer {
  error: { code: string } | null;
  data: Record<string, unknown>;
  text: string;
}

export class McpSession {
  calls = 0;
  /** Characters that the model wrote and read since the last `counted`, by form. */
  #characters: Tokens = { text: 0, structured: 0 };
  /** Calls by tool. */
  readonly tools = new Map<string, number>();
  #id = 0;

  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  /**
   * What a model reads before it begins: instructions and the list of tools. @returns its tokens
   */
  async open(): Promise<number> {
    const hello = await this.#ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    });
    const { tools } = (await this.#ask('tools/list', {})) as { tools: unknown };
    return Math.ceil(`${hello['instructions'] as string}${JSON.stringify(tools)}`.length / PER_TOKEN_OF_TOOLS);
  }

  async call(name: string, args: object): Promise<ToolAnswer> {
    const result = await this.#ask('tools/call', { name, arguments: args });
    const data = (result['structuredContent'] ?? {}) as Record<string, unknown>;
    const [first] = result['content'] as { text: string }[];
    const text = first?.text ?? '';
    this.calls += 1;
    this.tools.set(name, (this.tools.get(name) ?? 0) + 1);
    const wrote = name.length + JSON.stringify(args).length;
    this.#characters.text += wrote + text.length;
    this.#characters.structured += wrote + JSON.stringify(data).length;
    return { error: result['isError'] === true ? (data['error'] as { code: string }) : null, data, text };
  }

  /** Tokens since the last time. */
  counted(): Tokens {
    const { text, structured } = this.#characters;
    this.#characters = { text: 0, structured: 0 };
    return { text: Math.ceil(text / PER_TOKEN), structured: Math.ceil(structured / PER_TOKEN) };
  }

  async #ask(method: string, params: object): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++this.#id, method, params }),
    });
    const answer = (await response.json()) as { result?: Record<string, unknown>; error?: { message: string } };
    if (answer.result === undefined) throw new Error(`${method}: ${response.status} ${answer.error?.message}`);
    return answer.result;
  }
}
