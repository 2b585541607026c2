/**
 * Shows pending licenses and machines on /license-approvals and on a dashboard card (contract 80).
 */
import joi from 'joi';
import {
  pageActions,
  problemText,
  Redirect,
  View,
  type HttpRequest,
  type PageSpec,
  type PanelSpec,
} from '../../../kernel/contract.js';
import { changeBody } from '../model/fields.js';
import { toLicenseView } from '../model/view.js';
import { parseLicenseForm, getFormText } from './form.js';
import {
  ADMIN_AUTH,
  getIdParam,
  isAdmin,
  params,
  listProducts,
  MEMBER_AUTH,
  toShownLicense,
  type LicensePageParts,
} from './parts.js';

const MOST = 200;
const title = 'License approvals';

async function waiting({ deps, activations }: LicensePageParts): Promise<{ licenses: number; machines: number }> {
  const [licenses, machines] = await Promise.all([
    deps.licenses.count({ status: 'pending' }),
    activations.waitingCount(),
  ]);
  return { licenses, machines };
}

async function queue(parts: LicensePageParts, request: HttpRequest, problem?: string): Promise<View> {
  const { deps, activations } = parts;
  const product = request.query['product'] as string | undefined;
  const now = deps.clock.now();
  const pending = await deps.licenses.find({
    filter: { status: 'pending', ...(product !== undefined && { product }) },
    sort: [['created_at', 'asc']],
    limit: MOST,
  });
  const machines = await activations.waiting(request.principal, MOST);
  const rows = [];
  for (const machine of machines) {
    const license = await deps.licenses.get(machine.license_id);
    if (license === null || (product !== undefined && license.product !== product)) continue;
    const name = machine.machine_name ?? machine.machine_id;
    rows.push({ ...machine, name, license: toShownLicense(toLicenseView(license, 0, now)) });
  }
  return new View('approvals', {
    licenses: pending.items.map((license) => toShownLicense(toLicenseView(license, 0, now))),
    machines: rows,
    products: await listProducts(parts, true),
    admin: isAdmin(request),
    problem,
  });
}

export function approvalPages(parts: LicensePageParts): PageSpec[] {
  const { licenses } = parts;
  const action = pageActions(
    { path: '/license-approvals/{id}', title, access: ADMIN_AUTH, input: { params } },
    (request, problem) => queue(parts, request, problemText(problem)),
  );
  const post = (name: string, message: string, run: (request: HttpRequest) => Promise<unknown>): PageSpec =>
    action(name, async (request) => {
      await run(request);
      return new Redirect('/license-approvals', { tone: 'success', message });
    });
  return [
    {
      path: '/license-approvals',
      title,
      nav: {
        section: 'delivery',
        label: 'Approvals',
        icon: 'approval',
        order: 30,
        also: ['machines', 'requests'],
        badge: async () => {
          const { licenses: some, machines } = await waiting(parts);
          return some + machines || null;
        },
      },
      access: MEMBER_AUTH,
      projectQuery: 'product',
      input: { query: joi.object({ product: joi.string().max(64).empty('') }) },
      handle: (request) => queue(parts, request),
    },
    post('approve', 'License approved.', (request) => licenses.move(request.principal, getIdParam(request), 'approve')),
    post('reject', 'License rejected.', (request) => licenses.move(request.principal, getIdParam(request), 'reject')),
    post('limit', 'Limit raised.', async (request) => {
      const known = await licenses.need(request.principal, getIdParam(request));
      const body = { max_activations: getFormText(request, 'max_activations') };
      const { max_activations } = parseLicenseForm({ ...request, body }, changeBody);
      return licenses.change(request.principal, known.id, { max_activations: max_activations ?? null });
    }),
  ];
}

export function panels(parts: LicensePageParts): PanelSpec[] {
  return [
    {
      id: 'licensing.approvals',
      kind: 'attention',
      order: 50,
      load: async () => {
        const counts = await waiting(parts);
        return counts.licenses + counts.machines === 0 ? null : new View('panel-approvals', counts);
      },
    },
  ];
}
