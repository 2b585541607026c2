/** /agents: working now, the queue, and how to connect an agent (contract 80). */
import { expect } from 'chai';
import type { View } from '../../../kernel/contract/index.js';
import { buildAgentPages, type AgentPageDeps } from '../../../plugins/dispatch/agent-pages.js';
import type { Item } from '../../../ports/domain/bugs.js';
import { renderFile } from '../../web/templates.js';
import { request, session } from '../health/fakes.js';

const HOSTILE = '<script>alert(1)</script>';
const item = (fields: Partial<Item>): Item =>
  ({
    ref: 'shop-1',
    title: 'The cart is empty',
    severity: 'high',
    regression: false,
    project: 'shop',
    hit_count: 12,
    created_at: '2026-11-29T08:00:00.000Z',
    claim: null,
    ...fields,
  }) as Item;
const held = item({
  title: HOSTILE,
  claim: {
    agent: 'fixer-7',
    claimed_at: '2026-11-29T11:00:00.000Z',
    expires_at: '2026-11-29T12:00:00.000Z',
    renewals: 2,
  },
});

describe('dispatch: /agents', () => {
  const requested: (string | null)[] = [];
  const show = async (path: string, work: Partial<AgentPageDeps['work']> = {}, query = {}): Promise<string> => {
    const pages = buildAgentPages({
      work: {
        listWorking: async () => [],
        listQueue: async () => ({ items: [], total: 0 }),
        countWorking: async () => 0,
        ...work,
      },
      projects: { list: async () => [] },
      baseUrl: () => 'https://aos.example.org/',
    });
    const page = pages.find((one) => one.path === path);
    const view = (await page?.handle(request(session('member'), { query }))) as View;
    return renderFile(`plugins/dispatch/views/${view.template}.hbs`, { ...view.context, user: { role: 'admin' } });
  };

  it('shows who works on what, since when, and when the lease ends', async () => {
    const listWorking = async (project: string | null): Promise<Item[]> => {
      requested.push(project);
      return [held];
    };
    const html = await show('/agents', { listWorking }, { project: 'shop' });
    expect(html).to.include('fixer-7').and.include('renewed 2 ×').and.include('2026-11-29T12:00:00.000Z');
    expect(html).to.include('&lt;script&gt;').and.not.include('<script');
    expect(requested.at(-1)).to.equal('shop');
  });

  it('offers to connect one when no agent works', async () => {
    expect(await show('/agents'))
      .to.include('No agent is working')
      .and.include('/agents/connect');
  });

  it('shows what an agent gets next in order, and how many more wait', async () => {
    const items = [item({ ref: 'shop-2' }), item({ ref: 'shop-1' })];
    const html = await show('/agents/queue', { listQueue: async () => ({ items, total: 5 }) });
    expect([...html.matchAll(/data-ref="([^"]+)"/g)].map(([, ref]) => ref)).to.deep.equal(['shop-2', 'shop-1']);
    expect(html).to.include('3 more');
    expect(await show('/agents/queue')).to.include('The queue is empty');
  });

  for (const line of [
    'claude mcp add --transport http aos https://aos.example.org/mcp --header',
    'codex mcp add aos --url https://aos.example.org/mcp --bearer-token-env-var SVC_TOKEN',
    '.cursor/mcp.json',
  ]) {
    it(`has "${line}" to paste`, async () => {
      expect((await show('/agents/connect')).replaceAll('&quot;', '"')).to.include(line);
    });
  }
});
