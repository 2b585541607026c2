/**
 * Every page for everyone (contract 10, roles; contract 80): an administrator, a member, an
 * installer and nobody, with the exact answer. A page that is not in the table fails the suite, and
 * so does one that is no longer there.
 */
import { expect } from 'chai';
import { ADMIN_ACCOUNT } from '../support/service.js';
import { everyPage, type KnownPage } from './every-page.js';
import { INSTALLER, MEMBER, PlantedService } from './planted.js';
import { WebSession } from './web-session.js';

const PUBLIC = new Set([
  '/login/passkey',
  '/login',
  '/invitations/{token}',
  '/license',
  '/license/{project}',
  '/license/release',
  '/license/file',
  '/status/{id}',
]);
/** Whole areas, and single pages of areas that members read. */
const ADMINISTRATORS = [
  /^\/users\b/,
  /^\/tokens\b/,
  /^\/notifications\b/,
  /^\/projects\/new$/,
  /^\/releases\/new$/,
  /^\/projects\/\{slug\}\/edit$/,
  /^\/webhooks\/(?:new|\{id\}\/edit)$/,
  /^\/licenses\/(?:new|\{id\}\/edit)$/,
  /^\/projects\/\{slug\}\/brand$/,
  /^\/integrations$/,
];
/** What changes something and is for administrators alone: beside all of the areas above. */
const ADMINISTRATORS_CHANGE = [
  /^\/projects\b/,
  /^\/webhooks\b/,
  /^\/licenses\b(?!\/find)/,
  /^\/license-approvals\b/,
  /^\/releases\b/,
  /^\/access-protection\b/,
  /^\/migrations$/,
  /^\/monitors\/\{source\}\/tokens\b/,
  /^\/first-steps\/\{id\}\/token$/,
  /^\/first-steps\/sample\b/,
];

function least({ method, path }: KnownPage): 'public' | 'member' | 'admin' {
  if (PUBLIC.has(path) || path.startsWith('/status-page/') || path.startsWith('/brand/')) return 'public';
  if (ADMINISTRATORS.some((one) => one.test(path))) return 'admin';
  return method === 'POST' && ADMINISTRATORS_CHANGE.some((one) => one.test(path)) ? 'admin' : 'member';
}

/**
 * The login leads on who is in, the audit log lies elsewhere now, enrolments go by their forms, a
 * live list wants to be told since when, and the next item is another page.
 */
const OTHERWISE: Record<string, number> = {
  '/login': 303,
  '/system/audit': 303,
  '/account/totp': 303,
  '/account/passkeys': 303,
  '/bugs/{ref}/next': 303,
  '/resume/{id}': 404,
  '/bugs/live': 400,
  '/errors/live': 400,
};

describe('web: every page for every role', () => {
  let planted: PlantedService;
  let pages: KnownPage[];
  let admin: WebSession;
  let member: WebSession;
  let installer: WebSession;
  let nobody: WebSession;

  before(async () => {
    pages = await everyPage();
    planted = await PlantedService.started();
    admin = planted.admin;
    member = new WebSession(planted.url);
    installer = new WebSession(planted.url);
    nobody = new WebSession(planted.url);
    expect(await member.signIn(MEMBER.username, MEMBER.password)).to.equal(303);
  });
  after(() => planted?.dispose());

  it('rejects an installer account at login, even with the correct password', async () => {
    expect(await installer.signIn(INSTALLER.username, INSTALLER.password)).to.equal(403);
    expect(await installer.signIn(ADMIN_ACCOUNT.username, INSTALLER.password)).to.equal(401);
  });

  it('mounts every page with the access of the contract', () => {
    const wrong = pages.filter((page) => {
      const declared = typeof page.access === 'string' ? page.access : page.access.session;
      return declared !== least(page);
    });
    expect(wrong.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([]);
  });

  it('has an example URL for every page', () => {
    const missing = pages.filter(({ method, path }) => method === 'GET' && !planted.addressOf(path));
    expect(missing.map(({ path }) => path)).to.deep.equal([]);
  });

  it('GET: responds to each role according to the page’s access', async () => {
    const seen: string[] = [];
    const wanted: string[] = [];
    for (const page of pages) {
      if (page.method !== 'GET') continue;
      const address = planted.addressOf(page.path) ?? page.path;
      const rank = least(page);
      const inside = OTHERWISE[page.path] ?? 200;
      const next = address === '/' ? '' : `?next=${encodeURIComponent(address)}`;
      const outside = rank === 'public' ? '200' : `303 /login${next}`;
      wanted.push(
        `${page.path}: admin ${inside}, member ${rank === 'admin' ? 403 : inside}, installer and nobody ${outside}`,
      );
      const reported = await nobody.get(address);
      const same = await installer.get(address);
      expect(same.status, address).to.equal(reported.status);
      const says = reported.status === 303 ? `303 ${reported.location}` : String(reported.status);
      const [a, m] = [(await admin.get(address)).status, (await member.get(address)).status];
      seen.push(`${page.path}: admin ${a}, member ${m}, installer and nobody ${says}`);
    }
    const differing = seen.flatMap((one, i) => (one === wanted[i] ? [] : [`${one}; wanted: ${wanted[i]}`]));
    expect(differing).to.deep.equal([]);
  });

  it('POST: rejects requests without a session, form token or role, and changes nothing', async () => {
    const token = /name="csrf_token" value="([^"]+)"/.exec((await member.get('/account')).text)?.[1] ?? '';
    const seen: string[] = [];
    const wanted: string[] = [];
    for (const page of pages) {
      if (page.method !== 'POST') continue;
      const address = page.path
        .replace('{ref}', 'SHOP-1')
        .replaceAll(/\{[a-z]+\}/g, '00000000-0000-4000-8000-000000000000');
      const rank = least(page);
      const open = rank === 'public';
      wanted.push(
        `${page.path}: nobody ${open ? 403 : 401}, without token 403${rank === 'admin' ? ', member 403' : ''}`,
      );
      const [outside, bare] = [await nobody.send(address, {}), await member.send(address, {})];
      const rejected = rank === 'admin' ? `, member ${(await member.send(address, { csrf_token: token })).status}` : '';
      seen.push(`${page.path}: nobody ${outside.status}, without token ${bare.status}${rejected}`);
    }
    expect(seen).to.deep.equal(wanted);
  });

  it('names the required role to a member', async () => {
    const page = await member.get('/users');
    expect(page.text).to.match(/Admins only/);
  });
});
