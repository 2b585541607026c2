/**
 * An agent that waits for work (`wait_seconds`), and a caller or a service that goes away
 * meanwhile.
 */
import { expect } from 'chai';
import { waitUntil } from '../../harness.js';
import { SHARED_KEY, TestService } from '../../support/service.js';
import { ALL } from './fixture.js';

/** Less than the agents wait. */
const SOON_MS = 15_000;

describe('mcp: waiting for work', function () {
  let service: TestService;
  let token: string;
  before(async () => {
    service = await TestService.createInProcess();
    await service.createProject('shop');
    token = await service.createToken(ALL, 'shop');
  });
  after(() => service.dispose());

  const call = (name: string, args: object, signal?: AbortSignal): Promise<Response> =>
    fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
      ...(signal && { signal }),
    });
  const itemOf = async (answer: Promise<Response>): Promise<{ ref: string } | null> => {
    const { result } = (await (await answer).json()) as {
      result: { structuredContent: { item: { ref: string } | null } };
    };
    return result.structuredContent.item;
  };
  const report = async (title: string): Promise<string> => {
    const body = { project: 'shop', title };
    return (await service.request('POST', '/api/bugtracker/v1/report', token, body)).body['ref'] as string;
  };
  /** Requests at work, beside the one that asks. */
  const atWork = async (): Promise<number> => {
    const response = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${SHARED_KEY}` } });
    return Number(/^aos_http_requests_in_flight (\d+)/m.exec(await response.text())?.[1]) - 1;
  };

  it('returns an item as soon as it exists', async () => {
    const waiting = itemOf(call('next', { wait_seconds: 25 }));
    await waitUntil('it waits', async () => (await atWork()) > 0, SOON_MS);
    const ref = await report('At last');
    expect(await waiting).to.include({ ref });
  });

  it('claims nothing for a disconnected agent', async () => {
    const leaving = new AbortController();
    const gone = call('next', { wait_seconds: 25, agent: 'gone' }, leaving.signal).catch(() => null);
    await waitUntil('it waits', async () => (await atWork()) > 0, SOON_MS);
    leaving.abort();
    await gone;
    await waitUntil('nobody waits any more', async () => (await atWork()) === 0, SOON_MS);
    const ref = await report('For who is there');
    expect(await itemOf(call('next', { agent: 'there' }))).to.include({ ref });
  });

  it('ends when the service stops, over MCP and HTTP', async () => {
    const byTool = itemOf(call('next', { wait_seconds: 25 }));
    const byRoute = service.request('POST', '/api/bugtracker/v1/bugs?action=next&wait_seconds=25', token);
    // A tool's call is two: the message, and the route that it calls.
    await waitUntil('both wait', async () => (await atWork()) === 3, SOON_MS);
    const ended = service.stop();
    expect(await byTool).to.equal(null);
    const { status, body } = await byRoute;
    expect([status, body['item']]).to.deep.equal([200, null]);
    await ended;
  });
});
