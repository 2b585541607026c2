/**
 * By the text of their list and the whole `client_ref`, never by a whole key, which must not appear
 * in a URL.
 */
import type { SearchProvider } from '../../../ports/domain/search.js';
import type { LicensingDeps } from '../deps.js';
import type { LicenseService } from '../licenses/license-service.js';
import type { ActivationDoc } from '../model/documents.js';

export const createLicenseSearch = (licenses: Pick<LicenseService, 'listPage'>): SearchProvider => ({
  label: 'Licenses',
  icon: 'license',
  order: 40,
  role: 'member',
  find: async ({ text, limit, principal }) => {
    const [own, found] = await Promise.all([
      licenses.listPage(principal, { client_ref: text, limit }),
      licenses.listPage(principal, { q: text, limit }),
    ]);
    const named = new Set(own.items.map(({ id }) => id));
    const items = [...own.items, ...found.items.filter(({ id }) => !named.has(id))].slice(0, limit);
    return items.map(({ id, licensee, email, product, status, client_ref }) => ({
      title: licensee ?? email ?? 'Unnamed license',
      href: `/licenses/${id}`,
      detail: [product, licensee === null ? null : email, named.has(id) ? client_ref : null]
        .filter(Boolean)
        .join(' · '),
      state: status,
    }));
  },
  acts: [
    { verb: 'New', also: ['add', 'create', 'sell'], noun: 'license', href: '/licenses/new', role: 'admin' },
    {
      verb: 'Extend',
      also: ['prolong', 'renew'],
      role: 'admin',
      on: async ({ text, limit, principal }) => {
        const [own, found] = await Promise.all([
          licenses.listPage(principal, { client_ref: text, limit }),
          licenses.listPage(principal, { q: text, limit }),
        ]);
        const items = own.items.length > 0 ? own.items : found.items;
        return items.map(({ id, client_ref, licensee, email, product, status }) => ({
          title: client_ref ?? licensee ?? email ?? 'Unnamed license',
          href: `/licenses/${id}#f-expires_at`,
          detail: [product, client_ref === null ? null : licensee].filter(Boolean).join(' · '),
          state: status,
        }));
      },
    },
  ],
  getListHref: (text) => `/licenses?${new URLSearchParams({ q: text }).toString()}`,
});

export const createMachineSearch = ({ activations }: Pick<LicensingDeps, 'activations'>): SearchProvider => ({
  label: 'Machines',
  icon: 'monitor',
  order: 45,
  role: 'member',
  find: async ({ text, limit }) => {
    const by = async (field: 'machine_id' | 'machine_name'): Promise<readonly ActivationDoc[]> =>
      (await activations.find({ filter: { [field]: { prefix: text } }, sort: [[field, 'asc']], limit })).items;
    const found = (await Promise.all([by('machine_id'), by('machine_name')])).flat();
    const each = new Map(found.map((machine) => [machine.id, machine]));
    return [...each.values()].slice(0, limit).map(({ license_id, machine_id, machine_name, product, status }) => ({
      title: machine_name ?? machine_id,
      href: `/licenses/${license_id}`,
      detail: [product, machine_name === null ? null : machine_id].filter(Boolean).join(' · '),
      state: status,
    }));
  },
});
