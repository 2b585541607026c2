/** A server that answers what a test wants, and a folder for a client. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
}
export type Reply = (requested: Asked, response: ServerResponse) => void;

export const json = (status: number, body: unknown, headers: Record<string, string> = {}): Reply => {
  return (_asked, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};
export const page = (status: number, text: string, headers: Record<string, string> = {}): Reply => {
  return (_asked, response) => void response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(text);
};

export class FakeServer {
  reply: Reply = page(500, '');
  readonly asked: Asked[] = [];
  url = '';
  #server: Server | null = null;

  async start(port = 0): Promise<this> {
    this.#server = createServer((request, response) => void this.#handle(request, response));
    await new Promise<void>((resolve) => this.#server?.listen(port, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise<void>((resolve) => this.#server?.close(() => resolve()) ?? resolve());
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const piece of request as AsyncIterable<Buffer>) text += piece.toString('utf8');
    const url = new URL(request.url ?? '/', this.url);
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    const { method = '', headers } = request;
    const requested = { method, path: url.pathname, query: url.searchParams, headers, body };
    this.asked.push(requested);
    this.reply(requested, response);
  }
}

export const folder = (): Promise<string> => mkdtemp(join(tmpdir(), 'aos-sdk-'));
export const removeFolder = (path: string): Promise<void> => rm(path, { recursive: true, force: true });
