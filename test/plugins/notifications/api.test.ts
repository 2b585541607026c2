/** `/api/notifications/v1/channels` over the real HTTP adapter, with a receiver on this machine. */
import { expect } from 'chai';
import { NodeOutbound } from '../../../adapters/node/outbound.js';
import { definePlugin, type PluginContext } from '../../../kernel/contract/index.js';
import notifications from '../../../plugins/notifications/plugin.js';
import { waitUntil } from '../../harness.js';
import { HttpFixture, type Answer } from '../access/http-fixture.js';
import { Receiver, status } from '../webhooks/receiver.js';

const BASE = '/api/notifications/v1/channels';

interface ChannelAnswer {
  id: string;
  enabled: boolean;
  [name: string]: unknown;
}

/** Emits what the bug tracker would. */
let emit: PluginContext['emit'];
const emitter = definePlugin({
  id: 'emitter',
  version: '1.0.0',
  api: 1,
  title: 'Emitter',
  events: ['bug.created'],
  setup: (ctx) => {
    emit = ctx.emit.bind(ctx);
    return {};
  },
});

describe('notifications API', () => {
  let fixture: HttpFixture;
  let receiver: Receiver;
  let token: string;

  before(async () => {
    receiver = await Receiver.open();
    fixture = await HttpFixture.open({
      plugins: [emitter, notifications],
      parts: {
        outbound: new NodeOutbound({
          resolve: async (name) => [{ address: name === 'meta.internal' ? '169.254.169.254' : '127.0.0.1', family: 4 }],
        }),
      },
    });
    token = await fixture.token(['notifications:manage']);
  });
  after(async () => {
    await fixture.stop();
    await receiver.close();
  });

  const api = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path = '', body?: object): Promise<Answer> =>
    fixture.api(method, BASE + path, token, body);
  const created = async (more: object = {}): Promise<ChannelAnswer> => {
    const answer = await api('POST', '', { name: 'room', kind: 'slack', target: receiver.url, ...more });
    expect(answer.status, answer.text).to.equal(201);
    return answer.json['channel'] as ChannelAnswer;
  };

  it('creates, reads, lists, updates and deletes a channel', async () => {
    const channel = await created({ events: ['monitor.down'], repeat_minutes: 30, monitors: ['web-*'] });
    expect(channel).to.include({
      kind: 'slack',
      enabled: true,
      repeat_minutes: 30,
      flap_minutes: 0,
      min_severity: 'low',
    });
    expect(channel['events']).to.deep.equal(['monitor.down']);
    expect((await api('GET', `/${channel.id}`)).json['channel']).to.deep.equal(channel);
    const { items, has_more, next_cursor } = (await api('GET')).json as {
      items: ChannelAnswer[];
      [name: string]: unknown;
    };
    expect([items.map(({ id }) => id), has_more, next_cursor]).to.deep.equal([[channel.id], false, null]);
    expect((await api('GET', '?include_total=true')).json).to.include({ total: 1 });
    expect((await api('PATCH', `/${channel.id}`, { target: null })).status).to.equal(422);
    const changed = await api('PATCH', `/${channel.id}`, { flap_minutes: 10, projects: [] });
    expect(changed.json['channel']).to.include({ flap_minutes: 10, repeat_minutes: 30, name: 'room' });
    expect((await api('DELETE', `/${channel.id}`)).json).to.include({ deleted: true });
    expect((await api('GET', `/${channel.id}`)).status).to.equal(404);
    expect((await api('DELETE', `/${channel.id}`)).status).to.equal(404);
  });

  it('never returns the path of a target, a secret or a header value', async () => {
    const fields = {
      kind: 'http',
      target: `${receiver.url}/TARGET-PATH`,
      secret: 'SECRET-1',
      headers: { authorization: 'HEADER-1' },
    };
    const channel = await created(fields);
    expect(channel).to.include({ has_secret: true });
    expect(channel['header_names']).to.deep.equal(['authorization']);
    const texts = await Promise.all([
      api('GET'),
      api('GET', `/${channel.id}`),
      api('PATCH', `/${channel.id}`, { name: 'other' }),
      api('GET', `/${channel.id}/deliveries`),
    ]);
    for (const text of [JSON.stringify(channel), ...texts.map((one) => one.text)])
      expect(text).to.not.match(/TARGET-PATH|SECRET-1|HEADER-1/);
    await api('POST', `/${channel.id}/test`);
    expect(receiver.got.at(-1)?.headers).to.include({ authorization: 'HEADER-1' });
    await api('DELETE', `/${channel.id}`);
  });

  it('sends a test and returns the receiver’s response, for a disabled channel too', async () => {
    const channel = await created({ enabled: false });
    const sent = await api('POST', `/${channel.id}/test`);
    expect([sent.status, sent.json['delivery'] as object]).to.deep.equal([
      200,
      {
        state: 'sent',
        error: null,
        recipients: [],
        duration_ms: (sent.json['delivery'] as { duration_ms: number }).duration_ms,
      },
    ]);
    receiver.answer = status(404, {}, 'no_service');
    const failed = await api('POST', `/${channel.id}/test`);
    expect(failed.status).to.equal(200);
    expect(failed.json['delivery']).to.include({
      state: 'failed',
      error: 'The receiver responded with HTTP 404: no_service',
    });
    receiver.answer = status(204);
    await api('DELETE', `/${channel.id}`);
  });

  it('hides responses of internal hosts from a project token', async () => {
    receiver.answer = status(500, {}, 'INTERNAL-1');
    const project = await fixture.token(['notifications:manage'], 'shop');
    for (const [target, inAll, inProject] of [
      [receiver.url, 'The receiver responded with HTTP 500: INTERNAL-1', 'The receiver responded with HTTP 500.'],
      [
        'http://meta.internal/x',
        'blocked: meta.internal: the address 169.254.169.254 is never allowed',
        'blocked: the address is not allowed',
      ],
    ] as const)
      for (const [credential, error] of [
        [token, inAll],
        [project, inProject],
      ] as const) {
        const made = await fixture.api('POST', BASE, credential, { name: 'room', kind: 'slack', target });
        const { id } = made.json['channel'] as ChannelAnswer;
        const tested = await fixture.api('POST', `${BASE}/${id}/test`, credential);
        expect(tested.json['delivery']).to.include({ state: 'failed', error });
        await fixture.api('DELETE', `${BASE}/${id}`, credential);
      }
    receiver.answer = status(204);
  });

  it('lists sent, pending and held notifications, also of a disabled channel', async () => {
    const channel = await created({ events: ['bug.created'] });
    const report = (n: number): Promise<boolean> => {
      fixture.clock.forward(1);
      return emit('bug.created', {
        id: 'i',
        ref: `x-${n}`,
        type: 'bug',
        title: `Bug ${n}`,
        severity: 'high',
        item_status: 'open',
        regression: false,
      });
    };
    const deliveries = async (): Promise<{ title: string; state: string }[]> =>
      (await api('GET', `/${channel.id}/deliveries`)).json['items'] as { title: string; state: string }[];
    await report(1);
    await waitUntil('it was sent', async () => (await deliveries())[0]?.state === 'sent');
    expect((await api('PATCH', `/${channel.id}`, { enabled: false })).json['channel']).to.include({ enabled: false });
    await report(2);
    expect((await deliveries()).map(({ title, state }) => [title, state])).to.deep.equal([
      ['x-2: Bug 2', 'held'],
      ['x-1: Bug 1', 'sent'],
    ]);
    await api('PATCH', `/${channel.id}`, { enabled: true });
    await waitUntil('it was sent when enabled', async () =>
      (await deliveries()).every(({ state }) => state === 'sent'),
    );
    await api('DELETE', `/${channel.id}`);
  });

  for (const [what, body, field] of [
    ['an unknown kind', { kind: 'fax' }, 'kind'],
    ['a missing target', { target: undefined }, 'target'],
    ['a target that is no address', { target: 'room' }, 'target'],
    ['a scheme that is not web', { target: 'file:///etc/passwd' }, 'target'],
    ['a metadata address', { target: 'http://169.254.169.254/latest' }, 'target'],
    ['user info in an address', { target: 'https://a:b@example.org/' }, 'target'],
    [
      'a metadata address as server',
      { kind: 'telegram', target: '1', secret: 'x', server: 'http://169.254.169.254' },
      'server',
    ],
    ['a secret that the kind does not use', { secret: 'x' }, 'secret'],
    ['headers that the kind does not use', { headers: { a: 'b' } }, 'headers'],
    ['a target that the kind does not use', { kind: 'pagerduty', secret: 'x' }, 'target'],
    ['a missing secret', { kind: 'pagerduty', target: undefined }, 'secret'],
    ['an invalid chat ID', { kind: 'telegram', target: 'my chat', secret: 'x' }, 'target'],
    [
      'an alias in place of a room ID',
      { kind: 'matrix', target: '#ops:x', secret: 'x', server: 'https://x' },
      'target',
    ],
    ['a missing homeserver', { kind: 'matrix', target: '!a:x', secret: 'x' }, 'server'],
    ['e-mail without a server', { kind: 'email', target: 'a@b.example' }, 'kind'],
    ['an unknown event', { events: ['monitor.dwon'] }, 'events'],
    ['no event', { events: [] }, 'events'],
    ['half of the quiet hours', { quiet_from: '22:00' }, 'quiet_to'],
    ['an unknown time zone', { timezone: 'Mars/Base' }, 'timezone'],
  ] as [string, object, string][])
    it(`rejects ${what}`, async () => {
      const answer = await api('POST', '', { name: 'x', kind: 'slack', target: receiver.url, ...body });
      expect(answer.status, answer.text).to.equal(422);
      const fields = (answer.json['error'] as { fields: Record<string, string> }).fields;
      expect(
        Object.keys(fields).some((name) => name === field || name.startsWith(`${field}.`)),
        answer.text,
      ).to.equal(true);
    });

  it('rejects a change of the channel kind, and unknown query parameters', async () => {
    const channel = await created();
    expect((await api('PATCH', `/${channel.id}`, { kind: 'teams' })).status).to.equal(422);
    expect((await api('PATCH', `/${channel.id}`, { kind: 'slack', name: 'same kind' })).status).to.equal(200);
    expect((await api('GET', '?kind=slack')).status).to.equal(400);
    await api('DELETE', `/${channel.id}`);
  });

  it('requires the scope notifications:manage', async () => {
    expect((await fixture.api('GET', BASE, null)).status).to.equal(401);
    expect((await fixture.api('GET', BASE, await fixture.token(['watchdog:manage']))).status).to.equal(403);
  });
});
