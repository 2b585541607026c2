/** Invitations through HTTP: the pages of administrators, and the page behind the link. */
import 'reflect-metadata';
import { expect } from 'chai';
import { definePlugin, extend, type Plugin } from '../../../../kernel/contract/index.js';
import type { SessionPrincipal } from '../../../../ports/http/index.js';
import { MAIL_QUEUES, type OutgoingMail } from '../../../../ports/domain/mail/mail-queue.js';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { PASSWORD, services, fixtureOn } from '../fixture.js';
import { refused } from '../refused.js';
import { HttpFixture, type Answer, type Browser } from '../http-fixture.js';

const INVITEE = { email: 'lena@acme.test', role: 'member', full_name: 'Lena Fox' };
const LENA = { username: 'lena', full_name: 'Lena Fox', password: PASSWORD };
const DAY_MS = 86_400_000;

/** A mail server that keeps the mails. */
function createMailbox(isConfigured = true) {
  const mails: OutgoingMail[] = [];
  const plugin: Plugin = definePlugin({
    id: 'mailbox',
    version: '1.0.0',
    api: 1,
    title: 'Mailbox',
    extends: [MAIL_QUEUES.point],
    setup: () => ({
      extensions: [
        extend(MAIL_QUEUES, {
          isConfigured,
          enqueue: async (all) => void mails.push(...all),
          drop: async (which) => {
            const gone = mails.filter((mail) => 'subject_id' in which && mail.subject_id === which.subject_id);
            for (const mail of gone) mails.splice(mails.indexOf(mail), 1);
          },
        }),
      ],
    }),
  });
  return { mails, plugin };
}

describe('access: invitations', function () {
  let store: MemoryStore;
  let fixture: HttpFixture;
  let admin: Browser;
  let mailbox: ReturnType<typeof createMailbox>;

  const open = async (sections: Record<string, object> = {}, isConfigured = true): Promise<void> => {
    store = new MemoryStore();
    mailbox = createMailbox(isConfigured);
    fixture = await HttpFixture.open({ store, plugins: [mailbox.plugin], sections });
    admin = await fixture.signedIn();
  };
  beforeEach(() => open());
  afterEach(() => fixture.stop());

  const rows = () => store.collection<{ id: string; email: string; state: string }>('access_invitations');
  const listInvitations = async () => (await rows().find({})).items;
  const findId = async (): Promise<string> => (await listInvitations())[0]?.id ?? '';
  const readLink = ({ text }: Answer): string =>
    /http:\/\/aos\.test(\/invitations\/[0-9A-Za-z]{43})/.exec(text)?.[1] ?? '';
  const invite = async (given: Record<string, string> = INVITEE, by = admin): Promise<string> =>
    readLink(await by.shown(await by.post('/users/invitations', given, '/users')));
  const accept = (link: string, given: Record<string, string> = LENA, browser = fixture.browser()): Promise<Answer> =>
    browser.post(link, given);
  const createAccount = (username: string, role: string): Promise<Answer> =>
    admin.post('/users', { username, role, password: PASSWORD }, '/users');
  const openMember = async (username: string): Promise<string> =>
    new RegExp(`href="(/users/[0-9a-f-]{36})">${username}<`).exec((await admin.get('/users')).text)?.[1] ?? '';
  const readAudit = async (): Promise<string[]> =>
    (await fixture.parts.audit.listRecent(20)).items
      .filter(({ action }) => action.startsWith('invitation.') || action === 'user.created')
      .map(({ actor, action, target }) => `${actor} ${action} ${target}`);

  describe('an administrator', () => {
    it('mails the link, and sees it once on the next page', async () => {
      const shown = await admin.post('/users/invitations', INVITEE, '/users');
      const page = await admin.shown(shown);
      const link = readLink(page);
      expect(page.text).to.contain('Copy invitation link');
      expect(mailbox.mails).to.have.length(1);
      expect(mailbox.mails[0]).to.include({ to: 'lena@acme.test', subject: 'admin invited you to AOS at aos.test' });
      expect(mailbox.mails[0]?.text).to.contain(`http://aos.test${link}`).and.contain('as a member');
      expect((await admin.get(String(shown.headers['location']))).status).to.equal(410);
    });

    it('gets the link alone while no mail server is set up', async () => {
      await fixture.stop();
      await open({}, false);
      expect((await admin.get('/users')).text).to.contain('Create invitation link');
      expect(await invite()).to.not.equal('');
      expect(mailbox.mails).to.deep.equal([]);
    });

    it('stores only the hash of the token', async () => {
      const token = (await invite()).split('/').at(-1) ?? '';
      const all = JSON.stringify(await listInvitations());
      expect(all).to.not.contain(token);
      expect(JSON.stringify((await fixture.parts.audit.listRecent(50)).items)).to.not.contain(token);
    });

    it('sees pending invitations with their expiry, and no accepted ones', async () => {
      const link = await invite();
      expect((await admin.get('/users')).text)
        .to.contain('Pending invitations')
        .and.contain('lena@acme.test');
      await accept(link);
      expect((await admin.get('/users')).text).to.not.contain('Pending invitations');
    });

    it('sends it again with a new link; the previous one stops working', async () => {
      const first = await invite();
      const id = await findId();
      const second = readLink(await admin.shown(await admin.post(`/users/invitations/${id}/resend`, {}, '/users')));
      expect(second).to.not.equal(first);
      expect((await fixture.browser().get(first)).status).to.equal(410);
      expect((await fixture.browser().get(second)).status).to.equal(200);
      expect(mailbox.mails.map(({ text }) => text.includes(second))).to.deep.equal([true]);
    });

    it('revokes it, with a mail that still waits', async () => {
      const link = await invite();
      const id = await findId();
      expect((await admin.post(`/users/invitations/${id}/revoke`, {}, '/users')).status).to.equal(303);
      expect(mailbox.mails).to.deep.equal([]);
      const page = await fixture.browser().get(link);
      expect([page.status, page.text.includes('This invitation was revoked.')]).to.deep.equal([410, true]);
    });

    it('has every step in the audit log', async () => {
      const link = await invite();
      const id = await findId();
      const next = readLink(await admin.shown(await admin.post(`/users/invitations/${id}/resend`, {}, '/users')));
      await accept(next);
      await invite({ ...INVITEE, email: 'max@acme.test' });
      const max = (await listInvitations()).find(({ email }) => email === 'max@acme.test');
      await admin.post(`/users/invitations/${max?.id}/revoke`, {}, '/users');
      expect(link).to.not.equal(next);
      expect((await readAudit()).toReversed().slice(1)).to.deep.equal([
        'admin invitation.created lena@acme.test',
        'admin invitation.resent lena@acme.test',
        'system user.created lena',
        'system invitation.accepted lena@acme.test',
        'admin invitation.created max@acme.test',
        'admin invitation.revoked max@acme.test',
      ]);
    });

    const wrong: [string, Record<string, string>, number, string][] = [
      ['no address', { ...INVITEE, email: '' }, 422, 'Required'],
      ['something else than an address', { ...INVITEE, email: 'lena' }, 422, 'Must be an e-mail address'],
      ['an address with a line break', { ...INVITEE, email: 'lena@acme.test\r\nBcc: x@y.test' }, 422, 'e-mail'],
      ['an unknown role', { ...INVITEE, role: 'owner' }, 422, 'Must be one of'],
      ['a long name', { ...INVITEE, full_name: 'x'.repeat(101) }, 422, 'Must have at most 100'],
    ];
    for (const [what, given, status] of wrong) {
      it(`is shown the form again for ${what}`, async () => {
        const answer = await admin.post('/users/invitations', given, '/users');
        expect(answer.status).to.equal(status);
        expect(answer.text).to.contain('invalid-feedback').and.contain('Invite member');
        expect(await listInvitations()).to.deep.equal([]);
      });
    }

    it('cannot invite an address that has an account or an invitation, in any case', async () => {
      const link = await invite();
      const again = await admin.post('/users/invitations', { ...INVITEE, email: 'LENA@acme.test' }, '/users');
      expect([again.status, again.text.includes('pending invitation')]).to.deep.equal([409, true]);
      await accept(link);
      const member = await admin.post('/users/invitations', { ...INVITEE, email: 'Lena@ACME.test' }, '/users');
      expect([member.status, member.text.includes('belongs to the account lena')]).to.deep.equal([409, true]);
      expect(await listInvitations()).to.have.length(1);
    });

    it('invites once when the form is sent twice', async () => {
      const page = await admin.get('/users');
      const read = (name: string): string => new RegExp(`name="${name}" value="([^"]+)"`).exec(page.text)?.[1] ?? '';
      const form = { ...INVITEE, csrf_token: read('csrf_token'), form_id: read('form_id') };
      const answers = [await admin.raw('/users/invitations', form), await admin.raw('/users/invitations', form)];
      expect(answers.map(({ status }) => status)).to.deep.equal([303, 303]);
      expect(await listInvitations()).to.have.length(1);
    });

    it('is the only role that invites, sends again and revokes', async () => {
      await invite();
      const id = await findId();
      await createAccount('mia', 'member');
      const member = await fixture.signedIn('mia');
      for (const path of ['/users/invitations', `/users/invitations/${id}/resend`, `/users/invitations/${id}/revoke`])
        expect((await member.post(path, INVITEE, '/account')).status, path).to.equal(403);
      expect((await fixture.browser().raw('/users/invitations', INVITEE)).status).to.equal(401);
    });
  });

  describe('the link', () => {
    it('shows who invited whom, and is no Referer of other pages', async () => {
      const page = await fixture.browser().get(await invite());
      expect(page.status).to.equal(200);
      expect(page.text).to.contain('admin').and.contain('lena@acme.test').and.contain('value="lena"');
      expect(page.headers).to.include({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
    });

    it('changes nothing when a mail scanner loads it', async () => {
      const link = await invite();
      for (let n = 0; n < 3; n++) await fixture.browser().get(link);
      expect((await listInvitations()).map(({ state }) => state)).to.deep.equal(['pending']);
    });

    it('creates the account and signs it in', async () => {
      const browser = fixture.browser();
      const answer = await accept(await invite(), LENA, browser);
      expect([answer.status, answer.headers['location']]).to.deep.equal([303, '/']);
      expect((await browser.get('/account')).text).to.contain('<h1 class="page-title">lena<');
      expect((await browser.get('/users')).status).to.equal(403);
      expect((await fixture.signedIn('lena')).cookies.has('svc_session')).to.equal(true);
    });

    it('creates an administrator for an invitation as one', async () => {
      const browser = fixture.browser();
      await accept(await invite({ ...INVITEE, role: 'admin' }), LENA, browser);
      expect((await browser.get('/users')).status).to.equal(200);
    });

    it('creates an installer, who does not sign in here', async () => {
      const browser = fixture.browser();
      const answer = await accept(await invite({ ...INVITEE, role: 'installer' }), LENA, browser);
      expect([answer.status, answer.text.includes('Account created')]).to.deep.equal([200, true]);
      expect(browser.cookies.has('svc_session')).to.equal(false);
    });

    it('does not let the visitor choose role or address', async () => {
      const browser = fixture.browser();
      await accept(await invite(), { ...LENA, role: 'admin', email: 'root@acme.test' }, browser);
      const page = await admin.get(await openMember('lena'));
      expect(page.text).to.contain('value="lena@acme.test"').and.contain('value="member" selected');
      expect((await browser.get('/users')).status).to.equal(403);
    });

    for (const [what, given, field] of [
      ['a short password', { ...LENA, password: 'short' }, 'at least 12 characters'],
      ['a common password', { ...LENA, password: 'passwordpassword' }, 'too common'],
      ['the username as password', { ...LENA, username: 'lena-from-acme', password: 'lena-from-acme' }, 'account name'],
      ['a reserved username', { ...LENA, username: 'lic_lena' }, 'reserved'],
      ['a taken username', { ...LENA, username: 'ADMIN' }, 'taken'],
    ] as const) {
      it(`stays usable after ${what}`, async () => {
        const link = await invite();
        const answer = await accept(link, given);
        expect([409, 422]).to.include(answer.status);
        expect(answer.text).to.contain(field);
        expect(answer.headers['referrer-policy']).to.equal('no-referrer');
        expect((await accept(link)).status).to.equal(303);
      });
    }

    it('works once', async () => {
      const link = await invite();
      await accept(link);
      const again = await fixture.browser().get(link);
      expect([again.status, again.text.includes('This invitation was already used.')]).to.deep.equal([410, true]);
      expect(again.headers['referrer-policy']).to.equal('no-referrer');
    });

    it('creates one account for parallel requests', async () => {
      const link = await invite();
      const names = ['lena', 'lena2', 'lena3', 'lena4', 'lena5'];
      const browsers = names.map(() => fixture.browser());
      // Each has its form before the first one sends.
      const tokens = await Promise.all(
        browsers.map(async (one) => /name="csrf_token" value="([^"]+)"/.exec((await one.get(link)).text)?.[1] ?? ''),
      );
      const answers = await Promise.all(
        browsers.map((one, at) => one.raw(link, { ...LENA, username: names[at] ?? '', csrf_token: tokens[at] ?? '' })),
      );
      expect(answers.map(({ status }) => status)).to.have.members([303, 410, 410, 410, 410]);
      const { items } = await store.collection<{ id: string; username: string }>('access_accounts').find({});
      expect(items.filter(({ username }) => username.startsWith('lena'))).to.have.length(1);
    });

    it('expires after seven days, and works again when it is sent again', async () => {
      const link = await invite();
      const browser = fixture.browser();
      const form = /name="csrf_token" value="([^"]+)"/.exec((await browser.get(link)).text)?.[1] ?? '';
      fixture.clock.forward(7 * DAY_MS);
      const late = await browser.raw(link, { ...LENA, csrf_token: form });
      expect([late.status, late.text.includes('This invitation expired.')]).to.deep.equal([410, true]);
      admin = await fixture.signedIn();
      expect((await admin.get('/users')).text).to.contain('Expired');
      const id = await findId();
      const next = readLink(await admin.shown(await admin.post(`/users/invitations/${id}/resend`, {}, '/users')));
      expect((await accept(next)).status).to.equal(303);
    });

    for (const [what, change] of [
      ['demoted', (path: string) => admin.post(`${path}/role`, { role: 'member' }, path)],
      ['disabled', (path: string) => admin.post(`${path}/disable`, {}, path)],
      ['deleted', (path: string) => admin.post(`${path}/delete`, {}, path)],
    ] as const) {
      it(`stops working when the inviter is ${what}, until another administrator sends it again`, async () => {
        await createAccount('ada', 'admin');
        const link = await invite({ ...INVITEE, role: 'admin' }, await fixture.signedIn('ada'));
        const open = fixture.browser();
        const form = /name="csrf_token" value="([^"]+)"/.exec((await open.get(link)).text)?.[1] ?? '';
        expect((await change(await openMember('ada'))).status).to.equal(303);
        expect((await open.get(link)).status).to.equal(410);
        expect((await open.raw(link, { ...LENA, csrf_token: form })).status).to.equal(410);
        expect((await admin.get('/users')).text).to.contain('ada can’t invite any more');
        const id = await findId();
        const next = readLink(await admin.shown(await admin.post(`/users/invitations/${id}/resend`, {}, '/users')));
        expect((await accept(next)).status).to.equal(303);
      });
    }

    it('rejects a form without its token, and one of another browser', async () => {
      const link = await invite();
      const other = /name="csrf_token" value="([^"]+)"/.exec((await fixture.browser().get(link)).text)?.[1] ?? '';
      const browser = fixture.browser();
      await browser.get(link);
      for (const csrf_token of ['', 'wrong', other])
        expect((await browser.raw(link, { ...LENA, csrf_token })).status).to.equal(403);
      expect((await listInvitations()).map(({ state }) => state)).to.deep.equal(['pending']);
    });

    for (const token of ['x', 'A'.repeat(43), 'é'.repeat(20), '%00', 'A'.repeat(500)]) {
      it(`answers 410 with one sentence for ${token.slice(0, 12)}…`, async () => {
        const answer = await fixture.browser().get(`/invitations/${encodeURIComponent(token)}`);
        expect([answer.status, answer.text.includes('no longer valid')]).to.deep.equal([410, true]);
      });
    }

    it('is limited by address, like sign-ins', async () => {
      await fixture.stop();
      fixture = await HttpFixture.open({ limits: { public_per_minute: 3 } });
      const statuses: number[] = [];
      for (let n = 0; n < 4; n++) statuses.push((await fixture.browser().get('/invitations/x')).status);
      expect(statuses).to.deep.equal([410, 410, 410, 429]);
    });

    it('replaces the session of a browser that is signed in', async () => {
      const browser = await fixture.signedIn();
      const before = browser.cookies.get('svc_session');
      await accept(await invite(), LENA, browser);
      expect(browser.cookies.get('svc_session')).to.not.equal(before);
      expect((await browser.get('/users')).status).to.equal(403);
    });
  });

  describe('with auth.local', () => {
    const local = (value: boolean | string) => ({
      auth: { admin_user: 'admin', admin_password: PASSWORD, local: value },
    });

    it('"recovery", administrators alone can be invited, without a provider', async () => {
      await fixture.stop();
      await open(local('recovery'));
      const member = await admin.post('/users/invitations', INVITEE, '/users');
      expect([member.status, await listInvitations()]).to.deep.equal([422, []]);
      expect((await accept(await invite({ ...INVITEE, role: 'admin' }))).status).to.equal(303);
    });
  });

  it('are removed a month after they expired', async () => {
    const link = await invite();
    fixture.clock.forward(36 * DAY_MS);
    await fixture.harness.jobs.runNow('access.sweep');
    expect(await listInvitations()).to.have.length(1);
    fixture.clock.forward(2 * DAY_MS);
    await fixture.harness.jobs.runNow('access.sweep');
    expect(await listInvitations()).to.deep.equal([]);
    expect((await fixture.browser().get(link)).status).to.equal(410);
  });

  it('cannot have a higher role than the inviter', async () => {
    const s = await services(await fixtureOn());
    const { id } = await s.accounts.create('system', { username: 'mia', role: 'member', password: PASSWORD });
    const by: SessionPrincipal = { kind: 'session', session_id: 's', account_id: id, username: 'mia', role: 'member' };
    const error = await refused(s.invitations.invite(by, { ...INVITEE, role: 'admin' }));
    expect(error).to.include({ status: 422, code: 'validation_failed' });
    expect(error.fields).to.deep.equal({ role: 'must not be higher than your own role' });
  });
});
