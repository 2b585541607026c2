/** `aos/testing`: what an integrator's test does with a plugin. */
import { expect } from 'chai';
import { joi, StoreConflict, type Plugin } from '../../kernel/contract/index.js';
import { BUG_CREATED } from '../../ports/domain/bugs.js';
import { PROJECTS } from '../../ports/domain/projects.js';
import { boot, contextFor, stub, type TestService } from '../kit/index.js';
import { getRejection } from '../harness.js';
import { chat, type ChatConfig, type Note } from './chat.js';

const BUG = {
  id: 'b1',
  ref: 'shop-1',
  type: 'bug',
  title: 'It falls over',
  severity: 'high',
  client_ref: null,
  regression: false,
  people: null,
  item_status: 'open',
} as const;

describe('aos/testing', () => {
  let service: TestService;
  const sent: string[] = [];
  const projects = stub(PROJECTS, { get: async (slug) => ({ slug }) as never });

  before(async () => {
    service = await boot([chat, projects], {
      config: { chat: { room: 'ops' } },
      outbound: async ({ body }) => {
        sent.push(String(body));
        return { status: 204, headers: {}, body: Buffer.alloc(0), truncated: false, public: true, duration_ms: 1 };
      },
    });
  });
  after(() => service.stop());
  beforeEach(() => service.collection('chat_notes').remove({}));

  it('sends requests with a scoped token, and anonymously', async () => {
    const answer = await service.request<{ room: string; project: string; items: Note[] }>(
      'GET',
      '/api/chat/v1/notes',
      { as: { scopes: ['chat:read'], project: 'shop' } },
    );
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.include({ room: 'ops', project: 'shop', items: [] });
    expect(await service.request('GET', '/api/chat/v1/notes')).to.include({ status: 401, code: 'unauthorized' });
    const other = await service.request('GET', '/api/chat/v1/notes', { as: { scopes: ['chat:write'] } });
    expect(other).to.include({ status: 403, code: 'insufficient_scope' });
  });

  it('sends a body, and returns code and fields of an error', async () => {
    const ask = { as: { scopes: ['chat:write'] }, body: { text: '' } };
    const rejected = await service.request('POST', '/api/chat/v1/notes', ask);
    expect(rejected).to.include({ status: 409, code: 'chat_silent' });
    expect(rejected.fields).to.deep.equal({ text: 'is empty' });
  });

  it('opens a page and submits its form', async () => {
    expect((await service.request('GET', '/chat', { as: 'member' })).text).to.include('<h1');
    const sent = await service.request('POST', '/chat', { as: 'member', form: { text: 'Hello' } });
    expect(sent).to.include({ status: 303, location: '/chat' });
    expect((await service.collection<Note>('chat_notes').find()).items.map(({ text }) => text)).to.deep.equal([
      'Hello',
    ]);
    expect((await service.request('GET', '/chat')).status).to.equal(303);
  });

  it('renders the panels', async () => {
    expect(await service.panels()).to.include('<p>0 waiting</p>');
  });

  it('delivers an event to its listeners, and records emitted events', async () => {
    expect(await service.emit(BUG_CREATED, BUG)).to.equal(true);
    expect((await service.collection<Note>('chat_notes').find()).items[0]).to.deep.include({
      text: 'shop-1: It falls over',
      at: service.clock.iso(),
    });
    expect(service.emitted.slice(-2).map(({ event }) => event)).to.deep.equal(['bug.created', 'chat.noted']);
  });

  it('runs jobs on request: a single job by name, or all queued jobs, one per key', async () => {
    await service.runQueue();
    sent.length = 0;
    for (const text of ['a', 'b']) {
      await service.request('POST', '/api/chat/v1/notes', { as: { scopes: ['chat:write'] }, body: { text } });
    }
    await service.runQueue();
    expect(sent).to.deep.equal(['a']);
    await service.runJob('chat.post', 'c');
    expect(sent).to.deep.equal(['a', 'c']);
    expect((await getRejection(service.runJob('chat.post', 'bad'))).message).to.equal('the room is gone');
    expect((await getRejection(service.runJob('chat.psot'))).message).to.equal(
      'there is no job "chat.psot"; there are chat.post',
    );
  });

  it('runs a command and returns health', async () => {
    expect(await service.command('chat say', { args: ['hi'] })).to.deep.equal({ json: {}, text: 'said' });
    expect((await service.health())['chat']).to.deep.equal({ ok: true, notes: 1 });
    expect((await getRejection(service.command('chat shout'))).message).to.equal(
      'command "chat shout" does not exist; there are chat say',
    );
  });

  it('advances the clock only on request', async () => {
    const before = service.clock.now();
    service.clock.advance(60_000);
    expect(service.clock.now() - before).to.equal(60_000);
  });

  it('fails like the service: missing dependency, throwing plugin, invalid section', async () => {
    expect((await getRejection(boot([chat]))).message).to.include('plugin chat: needs "projects.directory"');
    const broken = { id: 'broken', version: '1.0.0', api: 1, title: 'Broken', setup: () => ({ rotues: [] }) };
    expect((await getRejection(boot([broken as never]))).message).to.match(
      /^plugin broken failed: .*rotues is not allowed/,
    );
    const config = { chat: { rooom: 'x' } };
    expect((await getRejection(boot([chat, projects], { config }))).message).to.include('chat.rooom is unknown');
  });

  it('returns stubbed values, and reports a call without a stub', async () => {
    const silent = await boot([chat, stub(PROJECTS)]);
    await silent.emit(BUG_CREATED, BUG);
    const line = silent.log.lines.find(({ level }) => level === 'error');
    expect(String(line?.data['err'])).to.equal(
      'Error: the stub of "projects.directory" has no member get: give it to stub(…)',
    );
    await silent.stop();
  });

  it('creates a context for unit tests, with indexes, defaults and the permissions of the manifest', async () => {
    const ctx = await contextFor<ChatConfig>(chat, { stubs: [projects] });
    expect(ctx.config.room).to.equal('lobby');
    const notes = ctx.collection<Note>('notes');
    await notes.insert({ id: '1', text: 'once', at: ctx.clock.iso() });
    expect(await getRejection(notes.insert({ id: '2', text: 'once', at: '' }))).to.be.instanceOf(StoreConflict);
    expect(() => ctx.collection('other')).to.throw('the collection "other" is not in its manifest');
    await ctx.emit('chat.noted', { text: 'x' });
    await ctx.ports.jobs.enqueue('post', 'x');
    expect(ctx.emitted.map(({ event }) => event)).to.deep.equal(['chat.noted']);
    expect(ctx.enqueued).to.deep.equal([{ name: 'chat.post', data: 'x' }]);
    expect(await ctx.resolve(PROJECTS).get('shop')).to.deep.equal({ slug: 'shop' });
  });

  describe('with a custom plugin', () => {
    const plugin = (setup: Plugin['setup']): Plugin => ({
      id: 'tried',
      version: '1.0.0',
      api: 1,
      title: 'Tried',
      collections: [{ name: 'rows', indexes: [] }],
      setup,
    });
    let own: TestService | undefined;
    afterEach(async () => {
      await own?.stop();
      own = undefined;
    });

    it('runs jobs when due, and retries like the service', async () => {
      const runs: [number, boolean][] = [];
      own = await boot([
        plugin((ctx) => ({
          jobs: [
            {
              name: 'send',
              run: async ({ attempt, lastAttempt }) => {
                runs.push([attempt, lastAttempt]);
                throw new Error('receiver down');
              },
            },
          ],
          start: () => ctx.ports.jobs.enqueue('send', null, { retry: 2, at: '2026-11-20T08:16:00.000Z' }),
        })),
      ]);
      await own.runQueue();
      expect(runs).to.deep.equal([]);
      own.clock.set('2026-11-20T08:16:00.000Z');
      await own.runQueue();
      expect(own.enqueued.map(({ at, attempt }) => [at, attempt])).to.deep.equal([['2026-11-20T08:16:01.000Z', 2]]);
      await own.runQueue();
      expect(runs).to.deep.equal([[1, false]]);
      own.clock.advance(1_000);
      await own.runQueue();
      own.clock.advance(2_000);
      expect((await getRejection(own.runQueue())).message).to.equal('receiver down');
      expect(runs).to.deep.equal([
        [1, false],
        [2, false],
        [3, true],
      ]);
      expect(own.enqueued).to.deep.equal([]);
    });

    it('runs on the embedded engine, and removes its directory', async () => {
      own = await boot([plugin(() => ({}))], { store: 'embedded' });
      expect(own.store.engine).to.equal('sqlite');
      await own.collection<{ id: string; n: number }>('tried_rows').insert({ id: 'a', n: 1 });
      expect(await own.collection('tried_rows').count({ n: 1 })).to.equal(1);
    });

    it('rejects a response that differs from the route’s declaration', async () => {
      const output = joi.object({
        items: joi
          .array()
          .items(joi.object({ n: joi.number().required() }))
          .required(),
      });
      let answer: unknown = { items: [{ n: 1 }] };
      own = await boot([
        plugin(() => ({
          routes: [
            {
              method: 'GET',
              path: '/api/tried/v1/rows/{id}',
              summary: 'Rows',
              access: 'public',
              output,
              handle: async () => answer as object,
            },
          ],
        })),
      ]);
      expect((await own.request('GET', '/api/tried/v1/rows/1?x=1')).status).to.equal(200);
      answer = { items: [{ n: 'one' }], more: true };
      expect((await getRejection(own.request('GET', '/api/tried/v1/rows/1'))).message).to.equal(
        'GET /api/tried/v1/rows/1 answers something else than its declared output: "items[0].n" must be a number; "more" is not allowed',
      );
    });

    const misused: [string, (ctx: Record<string, Record<string, unknown>>) => unknown, RegExp][] = [
      [
        'a port that does not exist',
        (ctx) => ctx['ports']?.['mailer'],
        /port "mailer" does not exist; available ports: .*outbound/,
      ],
      [
        'a port beside the context',
        (ctx) => ctx['outbound'],
        /the context has no "outbound"; use the port `ctx\.ports\.outbound`/,
      ],
      [
        'a member that does not exist',
        (ctx) => ctx['colection'],
        /the context has no "colection"; available: .*collection/,
      ],
    ];
    for (const [name, use, message] of misused) {
      it(`reports ${name}`, async () => {
        const failed = boot([
          plugin((ctx) => {
            use(ctx as never);
            return {};
          }),
        ]);
        expect((await getRejection(failed)).message).to.match(message);
      });
    }
  });
});
