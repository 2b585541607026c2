/**
 * A person's own zone and hours: in every time that a page shows, and in every time that is typed
 * (contract 80, times).
 */
import { expect } from 'chai';
import { WebSession } from '../../../pages/web-session.js';
import { ADMIN_ACCOUNT, TestService } from '../../../support/service.js';

const MEMBER = { username: 'mia', password: 'quiet-lantern-harbour' };

describe('time zone and clock format of a user', function () {
  let service: TestService;
  let admin: WebSession;
  let member: WebSession;

  before(async () => {
    service = await TestService.createInProcess({ SVC_APP__TIMEZONE: 'Europe/Zurich' });
    await service.createProject('shop');
    const create = ['user', 'create', '--username', MEMBER.username, '--role', 'member', '--password-stdin'];
    await service.runCommand(create, MEMBER.password);
    admin = new WebSession(service.url);
    member = new WebSession(service.url);
    expect(await admin.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password)).to.equal(303);
    expect(await member.signIn(MEMBER.username, MEMBER.password)).to.equal(303);
  });
  after(() => service?.dispose());

  const choose = (timezone: string, hours: string) => admin.post('/account/clock', { timezone, hours }, '/account');
  /** The first time on a page, as it is shown. */
  const shownOn = async (session: WebSession, path: string): Promise<string> =>
    /<time class="when"[^>]*>(.*?)<\/time>/.exec((await session.get(path)).text)?.[1]?.replaceAll(/<[^>]+>/g, '') ?? '';

  it('default to the service’s settings until the user changes them, for that user only', async () => {
    expect(await shownOn(admin, '/account')).to.match(/^\d{1,2} \w{3,4} \d{4}, \d\d:\d\d CES?T$/);
    const saved = await choose('Asia/Kathmandu', '12');
    expect([saved.status, saved.location]).to.deep.equal([303, '/account']);
    expect(await shownOn(admin, '/account')).to.match(/^\d{1,2} \w{3,4} \d{4}, \d{1,2}:\d\d [ap]m GMT\+5:45$/);
    expect((await admin.get('/audit')).text).to.match(/title="[^"]*[ap]m GMT\+5:45/);
    expect((await admin.get('/audit')).text).to.include('Times in Asia/Kathmandu');
    expect(await shownOn(member, '/account')).to.match(/ CES?T$/);
    expect((await member.get('/')).text).to.include('Times in Europe/Zurich');
  });

  it('are stored with the account and apply to every session', async () => {
    await choose('Asia/Kathmandu', '');
    const other = new WebSession(service.url);
    await other.signIn(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
    expect(await shownOn(other, '/account')).to.match(/, \d\d:\d\d GMT\+5:45$/);
  });

  it('apply to times in forms', async () => {
    await choose('Asia/Kathmandu', '24');
    const form = await admin.get('/maintenance/new');
    expect(form.text).to.include('Time zone: Asia/Kathmandu.');
    const token = await service.createToken('watchdog:manage,watchdog:read');
    await service.request('POST', '/api/watchdog/v1/monitors', token, { source: 'web-1' });
    const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    const window = { sources: 'web-1', span: 'until', from: `${day}T06:00`, until: `${day}T07:00` };
    expect((await admin.post('/maintenance', window, '/maintenance/new')).status).to.equal(303);
    const { body } = await service.request('GET', '/api/watchdog/v1/maintenance', token);
    const [made] = body['items'] as { from: string; until: string }[];
    expect([made?.from, made?.until]).to.deep.equal([`${day}T00:15:00.000Z`, `${day}T01:15:00.000Z`]);
  });

  it('reject an invalid value at its field and leave the stored one unchanged', async () => {
    await choose('Asia/Kathmandu', '24');
    for (const [timezone, hours, field] of [
      ['Mars/Olympus', '24', 'timezone'],
      ['<b>', '24', 'timezone'],
      ['UTC', '13', 'hours'],
    ] as const) {
      const answer = await choose(timezone, hours);
      expect(answer.status, timezone).to.equal(422);
      expect(answer.text).to.match(new RegExp(`id="f-${field}"[^>]*aria-invalid="true"`));
    }
    expect(await shownOn(admin, '/account')).to.include('GMT+5:45');
    expect((await choose('', '')).status).to.equal(303);
    expect(await shownOn(admin, '/account')).to.match(/ CES?T$/);
  });

  it('do not apply to downloaded files and the API', async () => {
    await choose('Asia/Kathmandu', '12');
    const { text } = await admin.get('/licenses.csv');
    expect(text).not.to.match(/GMT|[ap]m\b/);
  });
});
