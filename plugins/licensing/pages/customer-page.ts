/**
 * A customer's view, without login (contract 50). The key is posted and throttled like a password,
 * then replaced by a sealed ticket.
 */
import joi from 'joi';
import { text, View, type HttpRequest, type PageResult, type PageSpec } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { getClientNetwork } from '../../../lib/addresses.js';
import { DAY_MS, MINUTE_MS, toIsoString } from '../../../lib/time.js';
import type { SellerBrand } from '../../../ports/domain/projects.js';
import type { LicenseDoc } from '../model/documents.js';
import { toLicenseView } from '../model/view.js';
import { getFormText } from './form.js';
import { toShownLicense, getMachineTone, type LicensePageServices } from './page-context.js';

const TICKET_PURPOSE = 'licensing.customer';
const TICKET_LIFETIME_MS = 30 * MINUTE_MS;
export const MAX_CUSTOMER_RELEASES = 3;
const RELEASE_WINDOW_MS = 30 * DAY_MS;
const MAX_MACHINES = 200;
const PAGE_TITLE = 'Your license';
const PRODUCT_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;

interface Ticket {
  id: string;
  until: number;
}

export function customerPages(parts: LicensePageServices): PageSpec[] {
  const page = (path: string, run: (request: HttpRequest, license: LicenseDoc) => Promise<PageResult>): PageSpec => ({
    method: 'POST',
    path,
    title: PAGE_TITLE,
    access: 'public',
    again: ({ message }) => renderEntry({ message }),
    handle: async (request) => {
      const license = await openTicket(parts, getFormText(request, 'ticket'));
      if (license !== null) return run(request, license);
      const seller = await parts.deps.brands.findCommon();
      return renderEntry({ seller, message: 'This page expired. Enter the key again.' }, 401);
    },
  });
  return [
    {
      path: '/license',
      title: PAGE_TITLE,
      access: 'public',
      input: { query: joi.object({ product: joi.any() }) },
      handle: async ({ query }) => renderEntry(await findSeller(parts, query['product'])),
    },
    {
      path: '/license/{project}',
      title: PAGE_TITLE,
      access: 'public',
      input: { params: joi.object({ project: joi.string().max(64).required() }) },
      handle: async ({ params }) => renderEntry(await findSeller(parts, params['project'])),
    },
    {
      method: 'POST',
      path: '/license',
      title: PAGE_TITLE,
      access: 'public',
      again: ({ message }) => renderEntry({ message }),
      handle: (request) => openByKey(parts, request),
    },
    page('/license/release', (request, license) => releaseMachine(parts, request, license)),
    page('/license/file', (request, license) => downloadFile(parts, request, license)),
  ];
}

interface EntryContext {
  seller?: SellerBrand | null;
  product?: string | null;
  message?: string;
}

const renderEntry = (what: EntryContext, status = 200): View =>
  new View('customer', { title: PAGE_TITLE, ...what })
    .withPublicLayout()
    .withStatus(status)
    .header('cache-control', 'no-store');

async function findSeller({ deps }: LicensePageServices, named: unknown): Promise<EntryContext> {
  const product = typeof named === 'string' && PRODUCT_PATTERN.test(named) ? named : null;
  const own = product === null ? null : await deps.brands.find(product);
  return own === null ? { seller: await deps.brands.findCommon() } : { seller: own, product };
}

async function openByKey(parts: LicensePageServices, request: HttpRequest): Promise<View> {
  const { throttle } = parts.deps;
  const who = await findSeller(parts, getFormText(request, 'product'));
  let attempt;
  try {
    attempt = await throttle.begin([`license:${getClientNetwork(request.address)}`]);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 429) throw error;
    const view = renderEntry({ ...who, message: 'Too many wrong keys. Try again later.' }, 429);
    for (const [name, value] of Object.entries(error.headers ?? {})) view.header(name, value);
    return view;
  }
  try {
    const license = await parts.online.findByKey(getFormText(request, 'license_key'));
    if (license !== null) return await renderLicense(parts, license);
    await attempt.recordFailure();
    return renderEntry({ ...who, message: 'License not found. Check the key for typos.' }, 401);
  } finally {
    attempt.release();
  }
}

async function openTicket({ deps }: LicensePageServices, sealed: string): Promise<LicenseDoc | null> {
  let ticket: Ticket;
  try {
    ticket = JSON.parse(deps.cipher.open(sealed, TICKET_PURPOSE)) as Ticket;
  } catch {
    return null;
  }
  return ticket.until > deps.clock.now() ? deps.licenses.get(ticket.id) : null;
}

async function renderLicense(
  parts: LicensePageServices,
  license: LicenseDoc,
  more: Record<string, unknown> = {},
): Promise<View> {
  const { deps, licenses, machines, seats } = parts;
  const now = deps.clock.now();
  const sort = [['first_seen', 'asc']] as const;
  const filter = { license_id: license.id, status: { in: ['active', 'pending', 'blocked'] } };
  const page = await deps.activations.find({ filter, sort, limit: MAX_MACHINES });
  const leases = license.floating === true ? await listSeats(seats, license) : null;
  const ticket: Ticket = { id: license.id, until: now + TICKET_LIFETIME_MS };
  const { notes: _notes, ...licenseView } = toLicenseView(
    license,
    await licenses.getCacheTtlHours(license.product),
    now,
  );
  return new View('customer-license', {
    title: PAGE_TITLE,
    seller: (await deps.brands.find(license.product)) ?? (await deps.brands.findCommon()),
    license: toShownLicense({ ...licenseView, notes: null }),
    machines: page.items.map((one) => ({
      id: one.id,
      name: one.machine_name ?? one.machine_id,
      machine_id: one.machine_id,
      status: one.status,
      tone: getMachineTone(one.status),
      last_seen: one.last_seen,
      kept_until: machines.getRetainedUntil(one),
      releasable: one.status !== 'blocked' && machines.getRetainedUntil(one) === null,
    })),
    used: leases?.used ?? page.items.filter(({ status }) => status === 'active').length,
    leases: leases?.items,
    left: countReleasesLeft(license, now),
    most: MAX_CUSTOMER_RELEASES,
    ticket: deps.cipher.seal(JSON.stringify(ticket), TICKET_PURPOSE),
    wide: true,
    ...more,
  })
    .withPublicLayout()
    .header('cache-control', 'no-store');
}

async function listSeats(
  seats: LicensePageServices['seats'],
  license: LicenseDoc,
): Promise<{ items: object[]; used: number }> {
  const { items } = await seats.listPage(license.id, { limit: MAX_MACHINES });
  const shown = items.map(({ machine_id, machine_name, taken_at, expires_at }) => ({
    name: machine_name ?? machine_id,
    machine_id,
    taken_at,
    expires_at,
  }));
  return { items: shown, used: await seats.countUsed(license) };
}

const listRecentReleases = ({ customer_releases }: LicenseDoc, now: number): string[] =>
  customer_releases.filter((at) => Date.parse(at) > now - RELEASE_WINDOW_MS);
const countReleasesLeft = (license: LicenseDoc, now: number): number =>
  MAX_CUSTOMER_RELEASES - listRecentReleases(license, now).length;

/** Counted first, so that a crash never grants an extra one. */
async function releaseMachine(
  parts: LicensePageServices,
  request: HttpRequest,
  license: LicenseDoc,
): Promise<PageResult> {
  const { deps, machines } = parts;
  const now = deps.clock.now();
  const activation = await deps.activations.get(getFormText(request, 'activation'));
  const reject = (problem: string): Promise<View> =>
    renderLicense(parts, license, { problem }).then((page) => page.withStatus(409));
  if (activation === null || activation.license_id !== license.id) return reject('Machine not found.');
  if (activation.status === 'blocked') return reject('This machine is blocked. Contact the vendor.');
  const retainedUntil = machines.getRetainedUntil(activation);
  if (retainedUntil !== null) return reject(`This machine has a license file until ${retainedUntil.slice(0, 10)}.`);
  if (activation.status === 'released') return renderLicense(parts, license, { done: 'Machine deactivated.' });
  if (countReleasesLeft(license, now) <= 0) return reject('No deactivations left this month.');
  const counted = await deps.licenses.change(
    { id: license.id, rev: license.rev },
    { set: { customer_releases: [...listRecentReleases(license, now), toIsoString(now)], rev: license.rev + 1 } },
  );
  if (counted === null) return reject('The license was changed by someone else. Try again.');
  const released = await machines.vacate(activation, ['active', 'pending'], 'released');
  const { id, machine_id, product } = activation;
  const details = { product, activation: id, machine_id };
  const changed = { before: { status: activation.status }, after: { status: 'released' } };
  if (released !== null)
    await deps.audit.record(request.principal, 'license.machine_released_by_customer', license.id, details, changed);
  return renderLicense(parts, counted.doc, { done: 'Machine deactivated.' });
}

async function downloadFile(
  parts: LicensePageServices,
  request: HttpRequest,
  license: LicenseDoc,
): Promise<PageResult> {
  const reject = (problem: string): Promise<View> =>
    renderLicense(parts, license, { problem, request: getFormText(request, 'request') }).then((page) =>
      page.withStatus(422),
    );
  let fileRequest: { schema?: unknown; product?: unknown; machine_id?: unknown } | null;
  try {
    fileRequest = JSON.parse(getFormText(request, 'request')) as typeof fileRequest;
  } catch {
    return reject('This is not a valid request code.');
  }
  if (
    fileRequest === null ||
    fileRequest.schema !== 1 ||
    typeof fileRequest.machine_id !== 'string' ||
    fileRequest.machine_id === ''
  )
    return reject('This is not a valid request code.');
  if (fileRequest.product !== license.product) return reject('This request code is for another product.');
  let made;
  try {
    made = await parts.online.issueFileFor(license, fileRequest.machine_id);
  } catch (error) {
    if (error instanceof ServiceError && error.status === 422)
      return reject(`machine_id ${error.fields?.['machine_id'] ?? 'is wrong'}.`);
    throw error;
  }
  if ('status' in made) return reject(`No license file: the license is ${made.status.replaceAll('_', ' ')}.`);
  return text(made.text)
    .header('cache-control', 'no-store')
    .header('content-disposition', `attachment; filename="${license.product}.lic"`);
}
