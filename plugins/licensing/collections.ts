import type { CollectionSpec } from '../../ports/store/index.js';

export const COLLECTIONS: readonly CollectionSpec[] = [
  {
    name: 'licenses',
    search: ['search'],
    indexes: [
      { fields: ['key_sha256'], unique: true },
      { fields: ['ref_key'], unique: true },
      { fields: ['client_ref'] },
      { fields: ['created_at'] },
      { fields: ['product', 'created_at'] },
      { fields: ['status', 'created_at'] },
      { fields: ['product', 'status'] },
      { fields: ['hash_due'] },
      { fields: ['expire_due'] },
      { fields: ['product', 'expire_due'] },
      { fields: ['warn_due'] },
      { fields: ['outbox_at'] },
    ],
  },
  {
    name: 'activations',
    indexes: [
      { fields: ['slot'], unique: true },
      { fields: ['license_id', 'first_seen'] },
      { fields: ['license_id', 'status', 'slot_n'] },
      { fields: ['status', 'last_seen'] },
      { fields: ['status', 'first_seen'] },
      { fields: ['machine_id'] },
      { fields: ['machine_name'] },
      { fields: ['outbox_at'] },
    ],
  },
  {
    name: 'leases',
    indexes: [
      { fields: ['seat'], unique: true },
      { fields: ['lease_id'], unique: true },
      { fields: ['license_id', 'seat_n'] },
      { fields: ['released_at'] },
    ],
  },
  { name: 'marks', indexes: [] },
];
