/**
 * The real program with a real SMTP server and a real HTTP receiver: channels and rules made in the
 * pages, messages read by a mail parser, and nothing lost when the process is killed.
 */
import { expect } from 'chai';
import { waitUntil } from '../../../harness.js';
import { scaleRepeats } from '../../../support/repeat-budget.js';
import { buildMailSettings, MailServer } from '../../../support/mail-server.js';
import { ADMIN_ACCOUNT, SHARED_KEY, TestService } from '../../../support/service.js';
import { Receiver } from '../../../plugins/webhooks/receiver.js';

/**
 * How often the process is killed; of each round five are reported, and a mail that catches up
 * names twenty.
 */
const ROUNDS = Math.min(4, scaleRepeats(2));

/** A browser without scripts: cookies, and forms with their token. */
class Visitor {
  #cookies = new Map<string, string>();
  constructor(private readonly origin: () => string) {}

  async get(path: string): Promise<string> {
    return (await this.#send(path)).text();
  }

  /** @returns where it leads, or the page again with its status */
  async post(
    path: string,
    from: string,
    form: Record<string, string | string[]>,
  ): Promise<{ status: number; to: string; text: string }> {
    const token = /name="csrf_token" value="([^"]+)"/.exec(await this.get(from))?.[1] ?? '';
    const body = new URLSearchParams({ csrf_token: token });
    for (const [name, values] of Object.entries(form)) for (const value of [values].flat()) body.append(name, value);
    const answer = await this.#send(path, body);
    return { status: answer.status, to: answer.headers.get('location') ?? '', text: await answer.text() };
  }

  async #send(path: string, body?: URLSearchParams): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(this.origin() + path, {
      redirect: 'manual',
      headers: { cookie },
      ...(body && { method: 'POST', body }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    return answer;
  }
}

describe('notifications in the running service', function () {
  this.timeout(300_000 + ROUNDS * 10_000);
  const mail = new MailServer();
  let receiver: Receiver;
  let service: TestService;
  let token: string;
  let admin: Visitor;

  before(async () => {
    receiver = await Receiver.open();
    service = await TestService.createStarted({
      ...buildMailSettings(await mail.start()),
      SVC_BASE_URL: 'https://aos.example',
    });
    await service.createProject('shop');
    token = await service.createToken('bugtracker:report');
    admin = new Visitor(() => service.url);
    await admin.post('/login', '/login', ADMIN_ACCOUNT);
  });
  after(async () => {
    await service?.dispose();
    await receiver?.close();
    await mail.close();
  });

  async function channel(
    fields: Record<string, string>,
    events: string[] = ['bug.created', 'bug.critical'],
  ): Promise<string> {
    const form = { timezone: 'Europe/Berlin', digest_minutes: '0', enabled: 'true', min_severity: 'high', ...fields };
    const from = `/notifications/new?kind=${fields['kind']}`;
    const made = await admin.post('/notifications', from, { ...form, events, projects: 'shop' });
    expect([made.status, made.to], made.text).to.deep.equal([303, made.to]);
    return new URL(made.to, service.url).pathname;
  }

  const report = (title: string, severity = 'high'): Promise<unknown> =>
    service.request('POST', '/api/bugtracker/v1/report', token, { project: 'shop', title, severity });

  it('sends an email as text and HTML, with reported markup escaped', async () => {
    await channel({ name: 'mail', kind: 'email', target: 'one@example.org, two@example.org' });
    await report('Total <b>is</b> wrong & more');
    await report('too low to be told', 'low');
    await waitUntil('the mail', () => mail.raw.length > 0);
    const [parsed] = await mail.parseMails();
    expect(parsed?.subject).to.equal('[AOS] shop-1: Total <b>is</b> wrong & more · shop');
    expect(parsed?.from?.address).to.equal('aos@example.org');
    await waitUntil('both mails', () => mail.recipients.length > 1);
    expect(mail.recipients).to.deep.equal([['one@example.org'], ['two@example.org']]);
    expect(parsed?.to?.map(({ address }) => address)).to.deep.equal(['one@example.org', 'two@example.org']);
    expect(parsed?.text).to.include('https://aos.example/bugs/shop-1');
    expect(parsed?.html).to.include('Total &lt;b&gt;is&lt;/b&gt; wrong &amp; more').and.not.include('<b>is');
    expect(parsed?.messageId).to.match(/^<[0-9a-f]{32}@example\.org>$/);
  });

  for (const [kind, target, check] of [
    ['slack', '/hook', (body: Record<string, unknown>) => (body['attachments'] as { title: string }[])[0]?.title],
    ['teams', '/hook', (body: Record<string, unknown>) => JSON.stringify(body['attachments'])],
    ['ntfy', '/alerts', (body: Record<string, unknown>) => `${String(body['topic'])} ${String(body['title'])}`],
  ] as [string, string, (body: Record<string, unknown>) => string | undefined][]) {
    it(`${kind}: sends one POST with its JSON`, async () => {
      receiver.got.length = 0;
      const path = await channel({ name: kind, kind, target: `http://127.0.0.1:${receiver.port}${target}` });
      await report(`For ${kind} @everyone`);
      await waitUntil('the post', () => receiver.got.length > 0);
      const shown = check(JSON.parse(receiver.got[0]?.body ?? '{}') as Record<string, unknown>);
      expect(shown).to.include(`For ${kind}`);
      if (kind === 'slack') expect(shown).to.not.include('@everyone');
      const page = await admin.get(path);
      expect(page).to.include('Sent').and.not.include(target);
      await admin.post(`${path}/delete`, path, {});
    });
  }

  it('escapes links, mentions and markup of a reported title in chat and email', async () => {
    const title = '[Sign in](http://evil.example/x) <http://evil.example|now> <!here> @channel www.evil.example';
    mail.raw.length = 0;
    for (const [kind, target] of [
      ['slack', '/hook'],
      ['teams', '/hook'],
      ['ntfy', '/alerts'],
    ] as const) {
      receiver.got.length = 0;
      const path = await channel({ name: kind, kind, target: `http://127.0.0.1:${receiver.port}${target}` });
      await report(`${title} for ${kind}`);
      await waitUntil('the post', () => receiver.got.length > 0);
      const body = receiver.got[0]?.body ?? '';
      expect(body, kind).to.include('Sign in').and.include('https://aos.example/bugs/shop-');
      expect(body.replaceAll('\\', ''), kind).to.not.match(/\]\(http:\/\/evil|http:\/\/evil|www\.evil|@channel/);
      if (kind === 'slack') expect(body).to.not.include('<');
      await admin.post(`${path}/delete`, path, {});
    }
    await waitUntil('the mail', () => mail.raw.length > 0);
    for (const { subject, text, html } of await mail.parseMails())
      for (const part of [subject, text, html]) expect(part).to.not.match(/:\/\/evil|www\.evil|@channel/);
  });

  it('shows the receiver’s response to a test message', async () => {
    const path = await channel({ name: 'closed', kind: 'slack', target: 'http://127.0.0.1:9/nobody' });
    const answer = await admin.post(`${path}/test`, path, {});
    expect(answer.status).to.equal(200);
    expect(answer.text).to.include('Test failed');
    await admin.post(`${path}/delete`, path, {});
  });

  it('shows an invalid form again with the error of each field, and stores nothing', async () => {
    const submit = (fields: Record<string, string>): ReturnType<Visitor['post']> =>
      admin.post('/notifications', '/notifications/new?kind=slack', {
        kind: 'slack',
        events: 'monitor.down',
        ...fields,
      });
    const answer = await submit({ name: '', target: 'https://x.example/', timezone: 'Nowhere' });
    expect(answer.status).to.equal(422);
    expect(answer.text).to.include('Unknown time zone').and.include('Required');
    for (const target of ['ftp://x', 'no address', 'http://169.254.169.254/x'])
      expect((await submit({ name: 'x', target })).status, target).to.equal(422);
    expect(await admin.get('/notifications')).to.not.include('169.254');
  });

  it('sends an alarm, its acknowledgement and its recovery to the same channel', async () => {
    const hook = await Receiver.open();
    try {
      const form = { name: 'on call', kind: 'slack', target: `http://127.0.0.1:${hook.port}/x`, enabled: 'true' };
      const made = await admin.post('/notifications', '/notifications/new?kind=slack', {
        ...form,
        events: 'monitor.down',
      });
      expect(made.status, made.text).to.equal(303);
      const watchdog = await service.createToken('watchdog:ping,watchdog:manage,watchdog:read');
      const beat = (state: string): ReturnType<TestService['request']> =>
        service.request('POST', '/api/watchdog/v1/ping', watchdog, { source: 'web-1', interval: 600, status: state });
      const heard = (text: string): Promise<void> =>
        waitUntil(text, () => hook.got.some(({ body }) => body.includes(text)));
      expect((await beat('ok')).status).to.equal(201);
      await service.request('POST', '/api/watchdog/v1/ping', watchdog, { source: 'web-1', interval: 1, status: 'ok' });
      await waitUntil('it is down', async () => {
        await service.request('POST', '/api/watchdog/v1/evaluate', SHARED_KEY);
        const { body } = await service.request('GET', '/api/watchdog/v1/monitors/web-1', watchdog);
        return (body['monitor'] as { state: string }).state === 'down';
      });
      await heard('web-1 is down');
      const { body } = await service.request('GET', '/api/watchdog/v1/incidents?source=web-1', watchdog);
      const [{ id } = { id: '' }] = body['items'] as { id: string }[];
      const taken = await service.request('POST', `/api/watchdog/v1/incidents/${id}/acknowledge`, watchdog);
      expect(taken.status).to.equal(200);
      const by = (taken.body['incident'] as { acknowledged_by: string }).acknowledged_by;
      await heard(`web-1: acknowledged by ${by}`);
      await service.request('POST', `/api/watchdog/v1/incidents/${id}/acknowledge`, watchdog);
      expect((await beat('ok')).status).to.equal(200);
      await heard('web-1 recovered');
      expect(hook.got.filter(({ body: text }) => text.includes('acknowledged by')).length).to.equal(1);
    } finally {
      await hook.close();
    }
  });

  it('loses no message on kill -9 during sending, and retries with the same message id', async function () {
    mail.raw.length = 0;
    const titles: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const burst = Array.from({ length: 5 }, (_, i) => `Crash ${'abcd'[round] ?? ''}${'vwxyz'[i] ?? ''}`);
      await Promise.all(burst.map((title) => report(title)));
      titles.push(...burst);
      await service.stop('SIGKILL');
      // Nobody kills it any more after the last round.
      await (round + 1 < ROUNDS ? service.start() : service.startInProcess());
    }
    const seen = async (): Promise<string[]> =>
      (await mail.parseMails()).flatMap(({ text = '' }) => titles.filter((title) => text.includes(title)));
    await waitUntil('every report in a mail', async () => new Set(await seen()).size === titles.length, 100_000);
    const byId = new Map<string, string>();
    for (const { messageId = '', text = '' } of await mail.parseMails()) {
      expect(byId.get(messageId) ?? text).to.equal(text);
      byId.set(messageId, text);
    }
    for (const title of titles) {
      expect(
        [...byId.values()].filter((text) => text.includes(title)),
        title,
      ).to.have.length(1);
    }
  });
});
