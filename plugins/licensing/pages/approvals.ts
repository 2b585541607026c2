import joi from 'joi';
import {
  createCsvFile,
  createPageActions,
  formatProblem,
  Redirect,
  View,
  type HttpRequest,
  type PageSpec,
  type PanelSpec,
  type Reply,
} from '../../../kernel/contract/index.js';
import { formatCsvTable } from '../../../lib/text/csv.js';
import { changeBody } from '../model/fields.js';
import { toLicenseView } from '../model/view.js';
import { parseLicenseForm, getFormText } from './form.js';
import {
  LICENSE_ADMIN_AUTH,
  getIdParam,
  isAdmin,
  licenseIdParams,
  listProducts,
  LICENSE_MEMBER_AUTH,
  toShownLicense,
  type LicensePageServices,
} from './page-context.js';

const MAX_ROWS = 200;
const PAGE_TITLE = 'License approvals';

async function countPending(
  { deps, activations }: LicensePageServices,
  product: string | null = null,
): Promise<{ licenses: number; machines: number }> {
  const [licenses, machines] = await Promise.all([
    deps.licenses.count({ status: 'pending', ...(product !== null && { product }) }),
    activations.countPending(product),
  ]);
  return { licenses, machines };
}

async function renderApprovals(
  parts: LicensePageServices,
  request: HttpRequest,
  problem?: string,
): Promise<View | Reply> {
  const { deps, activations } = parts;
  const product = request.query['product'] as string | undefined;
  const now = deps.clock.now();
  const pending = await deps.licenses.find({
    filter: { status: 'pending', ...(product !== undefined && { product }) },
    sort: [['created_at', 'asc']],
    limit: MAX_ROWS,
  });
  const machines = await activations.listPending(request.principal, MAX_ROWS);
  const rows = [];
  for (const machine of machines) {
    const license = await deps.licenses.get(machine.license_id);
    if (license === null || (product !== undefined && license.product !== product)) continue;
    const name = machine.machine_name ?? machine.machine_id;
    rows.push({ ...machine, name, license: toShownLicense(toLicenseView(license, 0, now)) });
  }
  const licenses = pending.items.map((license) => toShownLicense(toLicenseView(license, 0, now)));
  if (request.query['format'] === 'csv') {
    const table = [
      ...licenses.map(({ key, product: of, created_at }) => ['license', of, key, null, created_at]),
      ...rows.map(({ license, name, first_seen }) => ['machine', license.product, license.key, name, first_seen]),
    ];
    return createCsvFile('approvals', formatCsvTable(['kind', 'project', 'key', 'machine', 'requested_at'], table));
  }
  const search = new URLSearchParams({ ...(product !== undefined && { product }), format: 'csv' });
  return new View('approvals', {
    csv: `/license-approvals?${search.toString()}`,
    licenses,
    machines: rows,
    products: await listProducts(parts, true),
    admin: isAdmin(request),
    problem,
  });
}

export function approvalPages(parts: LicensePageServices): PageSpec[] {
  const { licenses } = parts;
  const action = createPageActions(
    {
      path: '/license-approvals/{id}',
      title: PAGE_TITLE,
      access: LICENSE_ADMIN_AUTH,
      input: { params: licenseIdParams },
    },
    (request, problem) => renderApprovals(parts, request, formatProblem(problem)),
  );
  const post = (name: string, message: string, run: (request: HttpRequest) => Promise<unknown>): PageSpec =>
    action(name, async (request) => {
      await run(request);
      return new Redirect('/license-approvals', { tone: 'success', message });
    });
  return [
    {
      path: '/license-approvals',
      title: PAGE_TITLE,
      nav: {
        section: 'delivery',
        label: 'License approvals',
        icon: 'approval',
        order: 31,
        within: '/licenses',
        tab: 'Approvals',
        also: ['machines', 'requests'],
        badge: async (project) => {
          const { licenses: some, machines } = await countPending(parts, project);
          return some + machines || null;
        },
      },
      access: LICENSE_MEMBER_AUTH,
      projectQuery: 'product',
      input: {
        query: joi.object({ product: joi.string().max(64).empty(''), format: joi.string().valid('csv').empty('') }),
      },
      handle: (request) => renderApprovals(parts, request),
    },
    post('approve', 'License approved.', (request) =>
      licenses.applyTransition(request.principal, getIdParam(request), 'approve'),
    ),
    post('reject', 'License rejected.', (request) =>
      licenses.applyTransition(request.principal, getIdParam(request), 'reject'),
    ),
    post('limit', 'Limit raised.', async (request) => {
      const known = await licenses.getLicense(request.principal, getIdParam(request));
      const body = { max_activations: getFormText(request, 'max_activations') };
      const { max_activations } = parseLicenseForm({ ...request, body }, changeBody);
      return licenses.update(request.principal, known.id, { max_activations: max_activations ?? null });
    }),
  ];
}

export function approvalPanels(parts: LicensePageServices): PanelSpec[] {
  return [
    {
      id: 'licensing.approvals',
      kind: 'attention',
      order: 50,
      load: async (_session, project) => {
        const counts = await countPending(parts, project);
        return counts.licenses + counts.machines === 0 ? null : new View('panel-approvals', counts);
      },
    },
  ];
}
