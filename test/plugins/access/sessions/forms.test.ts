/**
 * What is created is created once, and a session that has ended keeps what was written (contract
 * 80, conduct).
 */
import { expect } from 'chai';
import { computeSha256 } from '../../../../plugins/access/model/token.js';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { HttpFixture, type Answer, type Browser } from '../http-fixture.js';
import { PASSWORD } from '../fixture.js';

const TOKEN = { name: 'ci', scopes: 'bugtracker:report', expires_in_seconds: '', project: '', source: '' };
const SECRET = /svc_live_[0-9A-Za-z]{43}/;

describe('access: forms', () => {
  let fixture: HttpFixture;
  let store: MemoryStore;
  let admin: Browser;

  beforeEach(async () => {
    store = new MemoryStore();
    fixture = await HttpFixture.open({ store });
    admin = await fixture.signedIn();
  });
  afterEach(() => fixture.stop());

  /** The form as the page has it, with what somebody typed. */
  const filled = async (page: string, typed: Record<string, string>): Promise<Record<string, string>> => {
    const { text } = await admin.get(page);
    const hidden = (name: string): string => new RegExp(`name="${name}" value="([^"]+)"`).exec(text)?.[1] ?? '';
    return { ...typed, csrf_token: hidden('csrf_token'), form_id: hidden('form_id') };
  };
  const tokens = async (): Promise<number> =>
    (await fixture.parts.tokens.list({ kind: 'master' })).filter(({ name }) => name === 'ci').length;
  const locationOf = ({ headers }: Answer): string => String(headers['location']);

  describe('idempotent submission', () => {
    it('reloading a creation creates nothing more and shows the first response', async () => {
      const form = await filled('/tokens/new', TOKEN);
      const first = await admin.raw('/tokens', form);
      const again = await admin.raw('/tokens', form);
      expect([first.status, again.status]).to.deep.equal([303, 303]);
      expect(locationOf(again)).to.equal(locationOf(first));
      expect(await tokens()).to.equal(1);
    });

    it('two simultaneous clicks create a single record', async () => {
      const form = await filled('/tokens/new', TOKEN);
      const answers = await Promise.all([1, 2, 3, 4].map(() => admin.raw('/tokens', form)));
      expect(new Set(answers.map(locationOf)).size).to.equal(1);
      expect(await tokens()).to.equal(1);
    });

    it('submitting a new form with the same values creates another record', async () => {
      const form = await filled('/tokens/new', TOKEN);
      await admin.raw('/tokens', form);
      const other = await admin.raw('/tokens', { ...form, scopes: 'license:read' });
      expect(other.status).to.equal(303);
      expect(await tokens()).to.equal(2);
    });

    it('a rejected form can be submitted again unchanged', async () => {
      const form = await filled('/projects/new', { slug: 'shop', name: 'Shop', cache_ttl_hours: '72' });
      await fixture.api('POST', '/api/projects/v1/projects', await fixture.token(['projects:manage']), {
        slug: 'shop',
        name: 'Shop',
      });
      expect((await admin.raw('/projects', form)).status).to.equal(409);
      expect((await admin.raw('/projects', form)).status).to.equal(409);
    });

    it('a form whose process died before responding reports that and creates nothing', async () => {
      const form = await filled('/tokens/new', TOKEN);
      await admin.raw('/tokens', form);
      const [doc] = (await store.collection('access_forms').find({ filter: { location: { exists: true } } })).items;
      await store.collection('access_forms').change({ id: doc?.id ?? '' }, { set: { location: null } });
      const again = await admin.raw('/tokens', form);
      expect(again.status).to.equal(409);
      expect(again.text).to.include('Already submitted and still in progress');
      expect(await tokens()).to.equal(1);
    });
  });

  it('a repeat creates nothing when the first response could not be stored', async () => {
    const forms = store.collection('access_forms');
    const change = forms.change.bind(forms);
    forms.change = () => Promise.reject(new Error('disk full'));
    const form = await filled('/tokens/new', TOKEN);
    const first = await admin.raw('/tokens', form);
    forms.change = change;
    expect(first.status).to.equal(303);
    expect((await admin.raw('/tokens', form)).status).to.equal(409);
    expect(await tokens()).to.equal(1);
  });

  describe('secrets shown once', () => {
    it('shows the secret once on the next page, and after a reload that it was already shown', async () => {
      const made = await admin.raw('/tokens', await filled('/tokens/new', TOKEN));
      expect(made.status).to.equal(303);
      expect(made.text).to.not.match(SECRET);
      const page = await admin.get(locationOf(made));
      expect([page.status, page.headers['cache-control']]).to.deep.equal([200, 'no-store']);
      expect(page.text).to.match(SECRET);
      const again = await admin.get(locationOf(made));
      expect(again.status).to.equal(410);
      expect(again.text)
        .to.include('This secret was already shown')
        .and.include('href="/tokens"')
        .and.not.match(SECRET);
    });

    it('hides the secret from other users and stores it encrypted', async () => {
      const made = await admin.raw('/tokens', await filled('/tokens/new', TOKEN));
      const other = await fixture.signedIn();
      expect((await other.get(locationOf(made))).status).to.equal(410);
      const kept = JSON.stringify((await store.collection('access_forms').find({})).items);
      expect(kept).to.not.match(SECRET);
      expect((await admin.get(locationOf(made))).text).to.match(SECRET);
    });

    it('shows the secret to only one of two concurrent requests', async () => {
      const made = await admin.raw('/tokens', await filled('/tokens/new', TOKEN));
      const looks = await Promise.all([1, 2, 3].map(() => admin.get(locationOf(made))));
      expect(looks.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 410, 410]);
    });

    it('never redirects to another host', async () => {
      const page = await admin.get(`/shown/${'0'.repeat(32)}?back=${encodeURIComponent('//evil.example/')}`);
      expect(page.status).to.equal(410);
      expect(page.text).to.include('href="/"').and.not.include('href="//evil.example');
    });
  });

  describe('a session that has ended', () => {
    const NAME = 'a name that was <b>long</b> to think of';
    /** The form as it was loaded while the session lived, sent when it is over. */
    const late = async (): Promise<Answer> => {
      const form = await filled('/tokens/new', { ...TOKEN, name: NAME });
      await store.collection('access_sessions').remove({});
      return admin.raw('/tokens', form);
    };
    const keptOf = ({ text }: Answer): string => /name="kept" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const signIn = (page: Answer, more: Record<string, string> = {}): Promise<Answer> =>
      admin.raw('/login', {
        username: 'admin',
        password: PASSWORD,
        csrf_token: /name="csrf_token" value="([^"]+)"/.exec(page.text)?.[1] ?? '',
        kept: keptOf(page),
        ...more,
      });
    const inputs = ({ text }: Answer): Record<string, string> =>
      Object.fromEntries(
        [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
          name,
          value.replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
        ]),
      );

    it('stores the submitted form, and the 401 page signs in and submits it', async () => {
      const rejected = await late();
      expect(rejected.status).to.equal(401);
      expect(rejected.text).to.include('a name that was &lt;b&gt;long').and.not.include('<b>long');
      const signed = await signIn(rejected);
      expect(signed.status).to.equal(303);
      const page = await admin.get(locationOf(signed));
      expect(page.text).to.include('data-send').and.include('action="/tokens"');
      const made = await admin.raw('/tokens', inputs(page));
      expect((await admin.shown(made)).text).to.match(SECRET);
      const names = (await fixture.parts.tokens.list({ kind: 'master' })).map(({ name }) => name);
      expect(names).to.include(NAME);
    });

    it('retains the form after a wrong password, and a page opened earlier does not submit it', async () => {
      const rejected = await late();
      const wrong = await signIn(rejected, { password: 'not the password' });
      expect(wrong.status).to.equal(401);
      expect(keptOf(wrong)).to.equal(keptOf(rejected));
      const signed = await signIn(wrong);
      await admin.get(locationOf(signed));
      expect((await admin.get(locationOf(signed))).text).to.include('may already have been submitted');
      expect((await admin.get(locationOf(signed))).text).to.not.include('data-send');
    });

    it('does not store a form without a page of the session, nor a password', async () => {
      const form = await filled('/tokens/new', TOKEN);
      const user = await filled('/users', { username: 'eve', role: 'admin', password: PASSWORD });
      await store.collection('access_sessions').remove({});
      for (const [path, body] of [
        ['/tokens', { ...form, csrf_token: 'x'.repeat(86) }],
        ['/users', user],
      ] as const) {
        const rejected = await admin.raw(path, body);
        expect(rejected.status, path).to.equal(401);
        expect(keptOf(rejected), path).to.equal('');
      }
    });

    it('does not submit the form with the rights of another account that signs in', async () => {
      await admin.post('/users', { username: 'mem', role: 'member', password: PASSWORD });
      const member = await fixture.signedIn('mem');
      const { text } = await member
        .get('/bugs/new')
        .then((page) => (page.status === 200 ? page : member.get('/account')));
      const hidden = (name: string): string => new RegExp(`name="${name}" value="([^"]+)"`).exec(text)?.[1] ?? '';
      const form = { ...TOKEN, name: NAME, csrf_token: hidden('csrf_token'), form_id: hidden('form_id') };
      await store.collection('access_sessions').remove({});
      const rejected = await member.raw('/tokens', form);
      expect(keptOf(rejected)).to.not.equal('');
      const signed = await member.raw('/login', {
        username: 'admin',
        password: PASSWORD,
        csrf_token: /name="csrf_token" value="([^"]+)"/.exec(rejected.text)?.[1] ?? '',
        kept: keptOf(rejected),
      });
      expect([signed.status, locationOf(signed)]).to.deep.equal([303, '/']);
      expect((await member.get('/account')).text).to.include('another account');
    });

    it('rejects form data from another origin', async () => {
      const rejected = await late();
      const forged = Buffer.from(JSON.stringify(['/users', [['username', 'eve']]])).toString('base64url');
      const signed = await signIn(rejected, { kept: `${forged}.${keptOf(rejected).split('.')[1]}` });
      expect([signed.status, locationOf(signed)]).to.deep.equal([303, '/']);
    });

    it('does not open the stored form in another session', async () => {
      const signed = await signIn(await late());
      const other = await fixture.signedIn();
      expect((await other.get(locationOf(signed))).status).to.equal(404);
      expect(computeSha256(locationOf(signed))).to.have.length(64);
    });
  });
});
