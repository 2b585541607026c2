import { stopDemo } from '../service.js';

interface ToolCallResult {
  result?: { structuredContent?: unknown; isError?: boolean; content?: { text?: string }[] };
  error?: { message: string };
}

export class CodingAgent {
  #id = 0;

  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  async callTool<T>(name: string, args: object): Promise<T> {
    const response = await fetch(`${this.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++this.#id, method: 'tools/call', params: { name, arguments: args } }),
    });
    const { result, error } = (await response.json()) as ToolCallResult;
    if (error !== undefined || result?.isError === true)
      stopDemo(`${name} by MCP: ${error?.message ?? result?.content?.[0]?.text ?? response.status}`);
    return result?.structuredContent as T;
  }
}
