/**
 * Each service against a receiver on this machine that validates and answers as the documentation
 * of that service says: Slack and Discord webhooks, Telegram Bot API, PagerDuty Events API v2,
 * Opsgenie Alert API v2, Pushover message API, Matrix client-server API, Google Chat webhooks,
 * Teams workflows, ntfy, and plain HTTP.
 */
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeOutbound } from '../../../adapters/node/outbound.js';
import type { ChannelInput } from '../../../plugins/notifications/channels/channel-fields.js';
import type { ChannelKind } from '../../../plugins/notifications/channels/channel-kinds.js';
import type { NotificationDispatcher } from '../../../plugins/notifications/sending/notification-dispatcher.js';
import { fillTemplate } from '../../../plugins/notifications/services/http-request-sender.js';
import { buildSenders } from '../../../plugins/notifications/services/senders.js';
import { ChannelFixture, MINUTE, sendDue } from './fixture.js';

interface Call {
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  text: string;
  body: Record<string, unknown>;
}
type Reply = [status: number, body: string, headers?: Record<string, string>];

/** A service: what it takes, by its documentation. */
type Service = (call: Call) => Reply;

const isText = (value: unknown, most: number): boolean =>
  typeof value === 'string' && value.length > 0 && Array.from(value).length <= most;
const list = (value: unknown): Record<string, unknown>[] => value as Record<string, unknown>[];

/** Open alerts of PagerDuty and Opsgenie by key, and what became of them. */
const alerts = new Map<string, string>();

const SERVICES: Record<string, Service> = {
  slack: ({ body }) => {
    const attachments = list(body['attachments']);
    if (attachments.length > 20 || JSON.stringify(body).length > 40_000) return [400, 'invalid_payload'];
    return attachments.every(({ text }) => isText(text, 3_000)) ? [200, 'ok'] : [400, 'invalid_attachments'];
  },
  discord: ({ body }) => {
    const embeds = list(body['attachments']);
    const size = embeds.reduce((n, { title, text }) => n + String(title).length + String(text).length, 0);
    const isFit = embeds.length <= 10 && size <= 6_000 && embeds.every(({ title }) => isText(title, 256));
    return isFit ? [200, 'ok'] : [400, '{"code": 50035, "message": "Invalid Form Body"}'];
  },
  telegram: ({ path, body }) => {
    if (path !== '/bot123:ABC/sendMessage') return [401, '{"ok":false,"error_code":401,"description":"Unauthorized"}'];
    const text = String(body['text']).replace(/<[^>]+>/g, '');
    const tags = String(body['text']).match(/<\/?[a-z]+/g) ?? [];
    const isHtml = tags.every((tag) => /^<\/?(?:a|b|i)$/.test(tag)) && body['parse_mode'] === 'HTML';
    if (body['chat_id'] !== '-1001')
      return [400, '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}'];
    if (text.length > 4_096)
      return [400, '{"ok":false,"error_code":400,"description":"Bad Request: message is too long"}'];
    return isHtml
      ? [200, '{"ok":true,"result":{"message_id":1}}']
      : [400, '{"ok":false,"description":"can\'t parse entities"}'];
  },
  pagerduty: ({ path, body }) => {
    const { routing_key, event_action, dedup_key } = body;
    const payload = (body['payload'] ?? {}) as Record<string, unknown>;
    const isValid =
      path === '/v2/enqueue' &&
      routing_key === 'R'.repeat(32) &&
      isText(dedup_key, 255) &&
      (event_action !== 'trigger' ||
        (isText(payload['summary'], 1_024) &&
          isText(payload['source'], 1_024) &&
          ['critical', 'error', 'warning', 'info'].includes(String(payload['severity']))));
    if (!isValid) return [400, '{"status":"invalid event","message":"Event object is invalid"}'];
    alerts.set(String(dedup_key), String(event_action));
    return [202, JSON.stringify({ status: 'success', message: 'Event processed', dedup_key })];
  },
  opsgenie: ({ path, headers, body }) => {
    if (headers.authorization !== 'GenieKey K') return [403, '{"message":"Key format is not valid!","took":0.1}'];
    const [, alias, action] =
      /^\/v2\/alerts(?:\/([^/]+)\/(close|acknowledge|unacknowledge)\?identifierType=alias)?$/.exec(path) ?? [];
    if (action === undefined) {
      const isValid =
        isText(body['message'], 130) && isText(body['alias'], 512) && /^P[1-5]$/.test(String(body['priority']));
      const details = Object.values(body['details'] ?? {});
      if (!isValid || !details.every((value) => typeof value === 'string'))
        return [422, '{"message":"Request body is not processable"}'];
      alerts.set(String(body['alias']), 'create');
    } else alerts.set(decodeURIComponent(alias ?? ''), action);
    return [202, '{"result":"Request will be processed","took":0.3,"requestId":"r"}'];
  },
  pushover: ({ path, body }) => {
    if (path !== '/1/messages.json' || body['token'] !== 'A'.repeat(30))
      return [400, '{"token":"invalid","errors":["application token is invalid"],"status":0}'];
    const isValid =
      isText(body['message'], 1_024) && isText(body['title'], 250) && [-2, -1, 0, 1].includes(Number(body['priority']));
    return isValid ? [200, '{"status":1,"request":"r"}'] : [400, '{"message":"cannot be blank","status":0}'];
  },
  matrix: ({ method, path, headers, body }) => {
    if (headers.authorization !== 'Bearer syt_1')
      return [401, '{"errcode":"M_UNKNOWN_TOKEN","error":"Invalid access token"}'];
    const isSend = /^\/_matrix\/client\/v3\/rooms\/!ops%3Aexample\.org\/send\/m\.room\.message\/[\w-]+$/.test(path);
    if (method !== 'PUT' || !isSend) return [404, '{"errcode":"M_UNRECOGNIZED","error":"Unrecognized request"}'];
    const isValid =
      body['msgtype'] === 'm.text' && typeof body['body'] === 'string' && typeof body['formatted_body'] === 'string';
    return isValid ? [200, '{"event_id":"$1"}'] : [400, '{"errcode":"M_BAD_JSON","error":"bad"}'];
  },
  google_chat: ({ path, text, body }) => {
    const cards = list(body['cardsV2']);
    const isValid =
      path.includes('key=K&token=T') &&
      text.length <= 32_000 &&
      cards.every(({ card }) => list((card as { sections: unknown }).sections).length > 0);
    return isValid
      ? [200, '{"name":"spaces/1/messages/1"}']
      : [400, '{"error":{"code":400,"status":"INVALID_ARGUMENT"}}'];
  },
  teams: ({ text, body }) => {
    const [{ contentType, content } = {} as Record<string, unknown>] = list(body['attachments']);
    const isCard =
      contentType === 'application/vnd.microsoft.card.adaptive' &&
      (content as { type: string }).type === 'AdaptiveCard';
    return body['type'] === 'message' && isCard && text.length < 28_000 ? [202, ''] : [400, 'Bad payload'];
  },
  ntfy: ({ path, headers, body }) => {
    if (headers.authorization !== 'Bearer tk_1') return [403, '{"code":40301,"error":"forbidden"}'];
    const isValid = path === '/' && body['topic'] === 'alerts' && Buffer.byteLength(String(body['message'])) <= 4_096;
    return isValid ? [200, '{"id":"1","event":"message"}'] : [400, '{"code":40009,"error":"invalid request"}'];
  },
  http: ({ headers, text }) => {
    const signed = `${String(headers['x-svc-timestamp'])}.${text}`;
    const expected = `sha256=${createHmac('sha256', 'whsec').update(signed).digest('hex')}`;
    return headers['x-svc-signature'] === expected && headers['x-api-key'] === 'k1' ? [204, ''] : [401, 'signature'];
  },
};

describe('notifications: services', () => {
  let f: ChannelFixture;
  let dispatcher: NotificationDispatcher;
  let server: http.Server;
  let base = '';
  let service: Service = () => [500, ''];
  const calls: Call[] = [];

  before(async () => {
    server = http.createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const { method = '', url: path = '', headers } = request;
        const body = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
        const call = { method, path, headers, text, body };
        calls.push(call);
        const [status, answer, more = {}] = service(call);
        response.writeHead(status, { 'content-type': 'application/json', ...more }).end(answer);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  beforeEach(() => {
    calls.length = 0;
    alerts.clear();
    f = new ChannelFixture();
    f.senders = buildSenders({
      smtp: { smtp_host: '', smtp_port: 25, smtp_security: 'none', smtp_user: '', smtp_password: '', smtp_from: '' },
      outbound: new NodeOutbound(),
      policy: { mode: 'private-ok', allow: [] },
      version: '1',
      clock: f.clock,
    });
    dispatcher = f.dispatcher();
  });

  const inputs = (): Record<string, ChannelInput & { kind: ChannelKind }> => ({
    slack: { kind: 'slack', target: `${base}/services/T/B/x` },
    discord: { kind: 'slack', target: `${base}/api/webhooks/1/x/slack` },
    telegram: { kind: 'telegram', target: '-1001', secret: '123:ABC', server: base },
    pagerduty: { kind: 'pagerduty', target: null, secret: 'R'.repeat(32), server: base },
    opsgenie: { kind: 'opsgenie', target: null, secret: 'K', server: base },
    pushover: { kind: 'pushover', target: 'U'.repeat(30), secret: 'A'.repeat(30), server: base },
    matrix: { kind: 'matrix', target: '!ops:example.org', secret: 'syt_1', server: `${base}/` },
    google_chat: { kind: 'google_chat', target: `${base}/v1/spaces/1/messages?key=K&token=T` },
    teams: { kind: 'teams', target: `${base}/workflows/1` },
    ntfy: { kind: 'ntfy', target: `${base}/alerts`, secret: 'tk_1' },
    http: { kind: 'http', target: `${base}/in`, secret: 'whsec', headers: { 'X-Api-Key': 'k1' } },
  });
  const open = async (name: string, more: ChannelInput = {}) => {
    service = SERVICES[name] as Service;
    return f.channel({ ...(inputs()[name] as ChannelInput), events: ['*'], ...more });
  };
  const down = (more: object = {}) =>
    f.queue.enqueueEvent(
      f.monitor('monitor.down', 'a-1', {
        name: 'Shop',
        reason: 'Exit code 3',
        message: 'disk full',
        exit_code: 3,
        ...more,
      }),
    );
  const failures = async (): Promise<(string | null)[]> =>
    (await f.notes.find({ limit: 200 })).items.filter(({ state }) => state !== 'sent').map(({ error }) => error);

  for (const name of Object.keys(SERVICES)) {
    it(`${name} accepts an alarm with its reason, and its recovery`, async () => {
      await open(name);
      await down();
      await sendDue(dispatcher);
      expect(await failures()).to.deep.equal([]);
      expect(calls[0]?.text).to.include('Exit code 3').and.include('disk full').and.include('Shop is down');
      await f.queue.enqueueEvent(f.monitor('monitor.recovered', 'a-1'));
      await sendDue(dispatcher);
      expect(await failures()).to.deep.equal([]);
      expect(calls).to.have.length(2);
    });

    it(`${name} accepts 25 long notifications with markup and any script`, async () => {
      await open(name);
      for (let i = 0; i < 25; i++) {
        const text = `${i} <b>&"'\\ _*[x](y)* ${'Ж'.repeat(600)}`;
        await f.queue.enqueueEvent(
          f.monitor('monitor.down', `a-${i}`, { source: `m-${i}`, name: text, reason: text, message: text }),
        );
      }
      await sendDue(dispatcher);
      expect(await failures()).to.deep.equal([]);
      for (let i = 0; i < 25; i++)
        expect(
          calls.some(({ text }) => text.includes(`m-${i}`)),
          `m-${i}`,
        ).to.equal(true);
    });

    it(`${name} is retried after 503, and fails permanently with 404`, async () => {
      await open(name);
      service = () => [503, 'busy'];
      await down();
      await sendDue(dispatcher);
      expect(await f.states()).to.deep.equal(['waiting']);
      service = () => [404, 'gone'];
      f.clock.advance(MINUTE);
      await sendDue(dispatcher);
      expect(await f.states()).to.deep.equal(['failed']);
      expect(await failures()).to.deep.equal(['The receiver responded with HTTP 404: gone']);
    });
  }

  for (const [name, expected] of [
    ['pagerduty', ['trigger', 'acknowledge', 'resolve']],
    ['opsgenie', ['create', 'acknowledge', 'close']],
  ] as const)
    it(`${name}: opens, acknowledges and closes a single alert per fault with the same key`, async () => {
      await open(name);
      const seen: (string | undefined)[] = [];
      const step = async (): Promise<void> => {
        await sendDue(dispatcher);
        seen.push([...alerts.values()][0]);
      };
      await down();
      await step();
      await f.queue.enqueueAcknowledgement({
        id: 'w',
        timestamp: f.clock.iso(),
        alarm_id: 'a-1',
        source: 'web-1',
        by: 'mia',
      });
      await step();
      await f.queue.enqueueEvent(f.monitor('monitor.alarm_closed', 'a-1', { resolution: 'deleted' }));
      await step();
      expect(seen).to.deep.equal([...expected]);
      expect([...alerts.keys()]).to.deep.equal(['aos.example alarm:a-1']);
    });

  it('telegram: waits for the time in the response, and reports an error in a 200', async () => {
    await open('telegram');
    service = () => [
      429,
      '{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":600}}',
    ];
    await down();
    await sendDue(dispatcher);
    const [note] = (await f.notes.find()).items;
    expect(Date.parse(note?.send_at ?? '') - f.clock.now()).to.equal(10 * MINUTE);
    service = () => [200, '{"ok":false,"description":"bot was blocked"}'];
    f.clock.advance(10 * MINUTE);
    await sendDue(dispatcher);
    expect(await failures()).to.deep.equal(['The receiver responded with HTTP 200: bot was blocked']);
  });

  it('matrix: reuses the transaction id for a repeat', async () => {
    await open('matrix');
    service = () => [502, ''];
    await down();
    await sendDue(dispatcher);
    service = SERVICES['matrix'] as Service;
    f.clock.advance(MINUTE);
    await sendDue(dispatcher);
    expect(new Set(calls.map(({ path }) => path)).size).to.equal(1);
  });

  it('http: fills the template, with external text escaped', async () => {
    await open('http', {
      template: '{"summary": "{{title}}", "code": {{exit_code}}, "why": "{{ message }}", "x": "{{nope}}"}',
    });
    await down({ message: 'say "no"\n{{title}}' });
    await sendDue(dispatcher);
    expect(calls[0]?.body).to.deep.equal({
      summary: 'Shop is down',
      code: 3,
      why: 'say "no"\n{{title}}',
      x: '',
    });
    expect(fillTemplate('{{a}} {{constructor}}', { a: '<"x">' }, false)).to.equal('<"x"> ');
  });
});
