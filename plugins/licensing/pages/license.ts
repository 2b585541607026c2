import joi from 'joi';
import {
  getFormFields,
  createPageActions,
  formatProblem,
  Redirect,
  text,
  View,
  type HttpRequest,
  type PageSpec,
} from '../../../kernel/contract/index.js';
import { conflict } from '../../../kernel/errors.js';
import { capitalize } from '../../../lib/sentence.js';
import { formatAuditField, formatAuditSentence, formatAuditValue } from '../../../lib/audit-sentence.js';
import type { AuditEntry } from '../../../ports/domain/audit.js';
import { MACHINE_TRANSITIONS, listMachineTransitions, type MachineTransition } from '../machines/activation-service.js';
import type { SeatAdministration } from '../seats/seat-administration.js';
import { changeBody } from '../model/fields.js';
import { listTransitions, type LicenseTransition } from '../model/states.js';
import { toActivationView, toLeaseView } from '../model/view.js';
import { composeKeyMessage, type LicenseKeySender } from './key-delivery.js';
import { buildCustomerPageUrl, buildMailtoUrl } from './key-message.js';
import { toDay, parseEndDate, parseLicenseForm, getFormText } from './form.js';
import {
  LICENSE_ADMIN_AUTH,
  LICENSES_CRUMB,
  getIdParam,
  isAdmin,
  LICENSE_PAGE_SIZE,
  licenseIdParams,
  listProducts,
  LICENSE_MEMBER_AUTH,
  toShownLicense,
  LICENSES_TITLE,
  redirectToLicense,
  getMachineTone,
  type LicensePageServices,
} from './page-context.js';

const MAX_HISTORY = 50;

async function renderDetail(
  parts: LicensePageServices,
  request: HttpRequest,
  more: Record<string, unknown> = {},
): Promise<View> {
  const { licenses, activations, seatAdministration, deps } = parts;
  const doc = await licenses.getLicense(request.principal, getIdParam(request));
  const license = await licenses.getView(request.principal, doc.id);
  const { cursor } = request.query as { cursor?: string };
  const query = { limit: LICENSE_PAGE_SIZE, ...(cursor !== undefined && { cursor }) };
  const machineQuery = license.floating ? { limit: LICENSE_PAGE_SIZE } : query;
  const [names, page, seats, counts, history] = await Promise.all([
    listProducts(parts, true),
    activations.listPage(request.principal, doc.id, machineQuery),
    license.floating ? renderSeats(seatAdministration, request, doc.id, query) : null,
    activations.countByState(doc.id),
    deps.audit.listByTarget(doc.id, MAX_HISTORY),
  ]);
  const admin = isAdmin(request);
  const moves = listTransitions(doc.status);
  return new View('license', {
    title: toShownLicense(license).name,
    license: toShownLicense(license),
    products: names,
    features: JSON.stringify(license.features, null, 2),
    end_day: toDay(license.expires_at),
    has_features: Object.keys(license.features).length > 0,
    admin,
    can: Object.fromEntries(moves.map((move) => [move, admin])),
    changeable: admin && doc.status !== 'revoked',
    used: counts.active ?? 0,
    waiting: counts.pending ?? 0,
    machines: page.items.map((one) => ({
      ...toActivationView(one),
      name: one.machine_name ?? one.machine_id,
      tone: getMachineTone(one.status),
      moves: admin ? listMachineTransitions(one.status) : [],
    })),
    seats,
    has_machines: !license.floating || page.items.length > 0,
    entitlements: license.entitlements,
    next_cursor: seats === null ? page.next : seats.next,
    page_path: `/licenses/${doc.id}`,
    customer_url: buildCustomerPageUrl(deps.baseUrl(), doc.product),
    history: history.items.map((entry) => toHistoryRow(entry, toShownLicense(license).name)),
    crumbs: [LICENSES_CRUMB, { label: toShownLicense(license).name }],
    ...more,
  });
}

async function renderSeats(
  seats: SeatAdministration,
  { principal }: HttpRequest,
  id: string,
  query: { limit: number; cursor?: string },
): Promise<{ items: object[]; used: number; next: string | null }> {
  const { items, next, count } = await seats.listPage(principal, id, query);
  const shown = items.map((lease) =>
    Object.assign(toLeaseView(lease), { name: lease.machine_name ?? lease.machine_id }),
  );
  return { items: shown, used: await count(), next };
}

function toHistoryRow(entry: AuditEntry, name: string): object {
  const { at, action, details, before, after } = entry;
  const changes = Object.entries(after ?? {}).map(([field, value]) => {
    const [old, now] = [formatAuditValue(field, before?.[field] ?? null), formatAuditValue(field, value)];
    const label = capitalize(formatAuditField(field));
    return old === 'none' ? `${label}: ${now}` : `${label} changed from ${old} to ${now}`;
  });
  const sentence = formatAuditSentence(entry, name);
  return { at, action, sentence, changes, reason: details['reason'] ?? null };
}

const createActions = (parts: LicensePageServices): ReturnType<typeof createPageActions> =>
  createPageActions(
    { path: '/licenses/{id}', title: LICENSES_TITLE, access: LICENSE_ADMIN_AUTH, input: { params: licenseIdParams } },
    (request, problem) =>
      renderDetail(parts, request, {
        problem: formatProblem(problem),
        errors: problem.errors,
        typed: getFormFields(request),
      }),
  );

const TRANSITION_MESSAGES: Readonly<Record<Exclude<LicenseTransition, 'extend'>, string>> = {
  approve: 'License approved.',
  reject: 'License rejected.',
  deactivate: 'License deactivated.',
  reactivate: 'License reactivated.',
  revoke: 'License revoked.',
};

function actionPages(parts: LicensePageServices, sender: LicenseKeySender): PageSpec[] {
  const { licenses, online } = parts;
  const action = createActions(parts);
  return [
    ...(Object.keys(TRANSITION_MESSAGES) as Exclude<LicenseTransition, 'extend'>[]).map((move) =>
      action(move, async (request, id) => {
        await licenses.applyTransition(request.principal, id, move, getFormText(request, 'reason') || undefined);
        return redirectToLicense(id, TRANSITION_MESSAGES[move]);
      }),
    ),
    action('extend', async (request, id) => {
      const { expires_at } = parseLicenseEnd(request);
      await licenses.extend(request.principal, id, expires_at);
      return redirectToLicense(id, 'License expiry changed.');
    }),
    action('key', async (request, id) => {
      const key = await licenses.reveal(request.principal, id);
      const doc = await licenses.getLicense(request.principal, id);
      const message = await composeKeyMessage(parts, { ...doc, floating: doc.floating === true }, key);
      const mailto = doc.email === null || sender.isConfigured ? null : buildMailtoUrl(doc.email, message);
      const more = { key, message: message.text, mailto, can_send: sender.isConfigured };
      return (await renderDetail(parts, request, more)).header('cache-control', 'no-store');
    }),
    action('send', async (request, id) => {
      const to = await sender.send(request.principal, await licenses.getLicense(request.principal, id));
      return redirectToLicense(id, `License key sent to ${to}.`);
    }),
    action('file', async (request, id) => {
      const doc = await licenses.getLicense(request.principal, id);
      const file = await online.issueFileFor(
        doc,
        getFormText(request, 'machine_id') || null,
        Number(getFormText(request, 'valid_days')),
      );
      if ('status' in file) throw conflict(`No license file: the license is ${file.status.replaceAll('_', ' ')}.`);
      await parts.deps.audit.record(request.principal, 'license.file_issued', id, {
        product: doc.product,
        machine_id: getFormText(request, 'machine_id') || null,
      });
      return text(file.text)
        .header('cache-control', 'no-store')
        .header('content-disposition', `attachment; filename="${doc.product}.lic"`);
    }),
  ];
}

/** @throws ServiceError validation_failed */
function parseLicenseEnd(request: HttpRequest): { expires_at: string | null } {
  return parseLicenseForm({ ...request, body: { expires_at: parseEndDate(request) ?? '' } }, changeBody) as {
    expires_at: string | null;
  };
}

const MACHINE_MESSAGES: Readonly<Record<MachineTransition, string>> = {
  approve: 'Machine approved.',
  reject: 'Machine rejected.',
  block: 'Machine blocked.',
  release: 'Machine deactivated.',
};

function machinePages(parts: LicensePageServices): PageSpec[] {
  const input = { params: licenseIdParams.keys({ aid: joi.string().hex().length(32).required() }) };
  const action = createActions(parts);
  return MACHINE_TRANSITIONS.map((move) =>
    action(
      `machines/{aid}/${move}`,
      async (request, id) => {
        await parts.activations.applyTransition(request.principal, id, request.params['aid'] ?? '', move);
        const back = getFormText(request, 'back') === 'approvals' ? '/license-approvals' : `/licenses/${id}`;
        return new Redirect(back, { tone: 'success', message: MACHINE_MESSAGES[move] });
      },
      input,
    ),
  );
}

function seatPages(parts: LicensePageServices): PageSpec[] {
  const input = { params: licenseIdParams.keys({ lid: joi.string().hex().length(32).required() }) };
  const action = createActions(parts);
  return [
    action(
      'seats/{lid}/release',
      async (request, id) => {
        await parts.seatAdministration.release(request.principal, id, request.params['lid'] ?? '');
        return redirectToLicense(id, 'Seat released.');
      },
      input,
    ),
  ];
}

export function licensePages(parts: LicensePageServices, sender: LicenseKeySender): PageSpec[] {
  return [
    {
      path: '/licenses/{id}',
      title: LICENSES_TITLE,
      access: LICENSE_MEMBER_AUTH,
      input: { params: licenseIdParams, query: joi.object({ cursor: joi.string().max(4096) }) },
      handle: (request) => renderDetail(parts, request, { can_send: sender.isConfigured }),
    },
    ...actionPages(parts, sender),
    ...machinePages(parts),
    ...seatPages(parts),
  ];
}
