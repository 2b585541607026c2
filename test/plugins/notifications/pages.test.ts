/** /notifications in a browser, behind the real HTTP adapter. */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { NodeOutbound } from '../../../adapters/node/outbound.js';
import dashboard from '../../../plugins/dashboard/plugin.js';
import type { Channel } from '../../../plugins/notifications/channels/channel.js';
import { CHANNEL_KIND_NAMES, CHANNEL_KINDS } from '../../../plugins/notifications/channels/channel-kinds.js';
import notifications from '../../../plugins/notifications/plugin.js';
import { HttpFixture, type Browser } from '../access/http-fixture.js';
import { Receiver, status } from '../webhooks/receiver.js';

describe('notifications: pages', () => {
  let fixture: HttpFixture;
  let store: MemoryStore;
  let browser: Browser;
  let receiver: Receiver;

  before(async () => {
    store = new MemoryStore();
    receiver = await Receiver.open();
    fixture = await HttpFixture.open({
      store,
      plugins: [notifications, dashboard],
      parts: { outbound: new NodeOutbound() },
    });
    browser = await fixture.signedIn();
  });
  after(async () => {
    await fixture.stop();
    await receiver.close();
  });

  const rows = () => store.collection<Channel>('notifications_channels');
  const submit = async (kind: string, fields: Record<string, string | string[]>): Promise<string> => {
    const form = { name: 'room', kind, enabled: 'true', events: ['monitor.down', 'bug.critical'], ...fields };
    const answer = await browser.post('/notifications', form, `/notifications/new?kind=${kind}`);
    expect(answer.status, answer.text).to.equal(303);
    return String(answer.headers['location']);
  };

  it('lists the channel kinds, and indicates which are not configured', async () => {
    const { text } = await browser.get('/notifications/new');
    for (const kind of CHANNEL_KIND_NAMES) expect(text).to.include(CHANNEL_KINDS[kind].label);
    expect(text).to.include('/notifications/new?kind=telegram').and.not.include('kind=email"');
  });

  for (const kind of CHANNEL_KIND_NAMES.filter((one) => one !== 'email'))
    it(`shows the fields of ${kind} and no others`, async () => {
      const { text } = await browser.get(`/notifications/new?kind=${kind}`);
      const spec = CHANNEL_KINDS[kind];
      const names = ['target', 'secret', 'server'] as const;
      for (const name of names) expect(text.includes(`name="${name}"`), name).to.equal(spec[name] !== undefined);
      expect(text.includes('name="template"')).to.equal(spec.custom === true);
      expect(text).to.match(/value="monitor.down" checked/);
    });

  it('preserves address, secret and headers when their fields are left empty', async () => {
    const address = { target: `${receiver.url}/first`, secret: 's-1', headers: 'X-Key: k-1' };
    const path = await submit('http', address);
    const { text } = await browser.get(`${path}/edit`);
    expect(text)
      .to.include('Stored: X-Key')
      .and.not.match(/s-1|k-1|\/first/);
    const edited = { name: 'renamed', events: ['*'], repeat_minutes: '30', monitors: 'web-*, db-1', enabled: 'true' };
    expect((await browser.post(`${path}/edit`, edited, `${path}/edit`)).status).to.equal(303);
    expect((await browser.post(`${path}/test`, {}, path)).text).to.include('Test sent');
    expect(receiver.got.at(-1)?.headers).to.include({ 'x-key': 'k-1' }).and.to.have.property('x-svc-signature');
    const [channel] = (await rows().find({ filter: { name: 'renamed' } })).items;
    expect(channel).to.deep.include({ events: ['*'], monitors: ['web-*', 'db-1'], repeat_minutes: 30 });
    expect((await browser.post(`${path}/delete`, {}, path)).status).to.equal(303);
  });

  const preset = (text: string): Record<string, string | string[]> => ({
    name: /name="name"[^>]* value="([^"]*)"/.exec(text)?.[1] ?? '',
    events: [...text.matchAll(/name="events" value="([^"]+)" checked/g)].map(([, event]) => event ?? ''),
    enabled: 'true',
    critical_immediately: 'true',
  });
  const countChannels = () => rows().count({});

  it('sends a test and saves a channel that alerts, with the address as the only input', async () => {
    receiver.answer = status(204);
    const form = preset((await browser.get('/notifications/new?kind=teams')).text);
    const given = { ...form, kind: 'teams', target: `${receiver.url}/hook`, action: 'test' };
    const before = receiver.got.length;
    const saved = await browser.post('/notifications', given, '/notifications/new?kind=teams');
    expect(saved.status, saved.text).to.equal(303);
    expect(
      receiver.got
        .slice(before)
        .map(({ body }) => body)
        .join(),
    )
      .to.include('Test alert')
      .and.not.include('\\\\');
    const page = (await browser.get(String(saved.headers['location']))).text;
    expect(page)
      .to.include('Monitor down and recovered')
      .and.match(/Last message<\/dt>\s*<dd[^>]*><time/);
    const found = await rows().get(String(saved.headers['location']).split('/').at(-1) ?? '');
    expect(found).to.include({ name: 'Microsoft Teams', last_sent_at: fixture.clock.iso() });
    expect(found?.events).to.include.members(['monitor.down', 'bug.critical']);
  });

  for (const [what, answer, reason] of [
    ['rejects it', status(404), 'The receiver responded with HTTP 404'],
    ['is down', null, 'Connection refused'],
  ] as const)
    it(`saves nothing when the receiver of the test ${what}, unless requested`, async () => {
      const closed = await Receiver.open();
      if (answer === null) await closed.close();
      else closed.answer = answer;
      const before = await countChannels();
      const given = { name: 'later', kind: 'slack', target: closed.url, events: ['monitor.down'], enabled: 'true' };
      const form = '/notifications/new?kind=slack';
      const failed = await browser.post('/notifications', { ...given, action: 'test' }, form);
      expect(failed.status).to.equal(422);
      expect(failed.text)
        .to.include('Test failed, nothing saved')
        .and.include(reason)
        .and.include('Save anyway')
        .and.include(`value="${closed.url}"`)
        .and.not.match(/connect:|ECONN/);
      expect(await countChannels()).to.equal(before);
      expect((await browser.post('/notifications', given, form)).status).to.equal(303);
      expect(await countChannels()).to.equal(before + 1);
      if (answer !== null) await closed.close();
    });

  it('lists what is connected, and which settings e-mail needs', async () => {
    const path = await submit('ntfy', { target: `${receiver.url}/alerts` });
    const { text } = await browser.get('/integrations');
    const row = (name: string): string => text.split('<tr>').find((one) => one.includes(`>${name}</a>`)) ?? '';
    expect(row('ntfy')).to.include('1 channel').and.include(`href="${path}"`).and.include('Manage');
    expect(row('Telegram')).to.include('Not connected').and.include('/notifications/new?kind').and.include('Connect');
    expect(row('E-mail')).to.include('notifications.smtp_host').and.include('notifications.smtp_from');
    expect((await browser.get('/notifications/new')).text).to.include('notifications.smtp_host');
    await browser.post(`${path}/delete`, {}, path);
  });

  it('rejects a channel without events, and opens the folded part for its faults', async () => {
    const form = { name: 'x', kind: 'slack', target: receiver.url, action: 'test', quiet_from: '25:00' };
    const answer = await browser.post('/notifications', form, '/notifications/new?kind=slack');
    expect(answer.status).to.equal(422);
    expect(answer.text)
      .to.include('Choose at least one.')
      .and.match(/<details[^>]* open[^>]*>\s*<summary>Advanced/);
  });

  it('shows the time of a successful test as the last message', async () => {
    receiver.answer = status(204);
    const path = await submit('slack', { target: receiver.url });
    expect((await browser.get(path)).text).to.match(/Last message<\/dt>\s*<dd[^>]*>—/);
    await browser.post(`${path}/test`, {}, path);
    expect((await browser.get(path)).text).to.match(/Last message<\/dt>\s*<dd[^>]*><time/);
  });

  it('shows the form again with its errors', async () => {
    const form = { name: 'x', kind: 'telegram', target: 'my chat', secret: '1:A', events: 'monitor.down' };
    const answer = await browser.post('/notifications', form, '/notifications/new?kind=telegram');
    expect(answer.status).to.equal(422);
    expect(answer.text).to.include('value="my chat"').and.include('aria-invalid="true"').and.not.include('1:A');
  });

  it('warns on the dashboard about a channel that was disabled automatically, and enables it', async () => {
    const path = await submit('slack', { target: receiver.url });
    expect((await browser.get('/')).text).to.not.include('Alerts to room fail');
    const id = path.split('/').at(-1) ?? '';
    const disabled_reason = 'No message was taken for 24 hours.';
    await rows().change({ id }, { set: { enabled: false, disabled_reason, disabled_at: fixture.clock.iso() } });
    expect((await browser.get('/')).text)
      .to.include('Alerts to room fail')
      .and.include(disabled_reason);
    expect((await browser.get(path)).text).to.include('No alerts waiting');
    expect((await browser.post(`${path}/enable`, {}, path)).status).to.equal(303);
    expect(await rows().get(id)).to.include({ enabled: true, disabled_reason: null });
    expect((await browser.get('/')).text).to.not.include('Alerts to room fail');
  });
});
