import { LINK_KINDS, type LinkKind } from '../../item/link-kinds.js';
import type { ItemSectionInput } from './section.js';

const LINK_KIND_LABELS: Record<LinkKind, string> = {
  related: 'is related to',
  blocks: 'blocks',
  blocked_by: 'is blocked by',
  discovered_from: 'was discovered in',
  discovered: 'led to',
};

export const getLinkKindLabel = (kind: string): string =>
  Object.hasOwn(LINK_KIND_LABELS, kind) ? LINK_KIND_LABELS[kind as LinkKind] : kind;

const LINK_KIND_OPTIONS = LINK_KINDS.map((kind) => ({ value: kind, label: LINK_KIND_LABELS[kind] }));

export const buildLinksSection = ({ detail }: ItemSectionInput): object => ({
  links: detail.links.map((link) => ({ ...link, says: LINK_KIND_LABELS[link.kind] })),
  link_kinds: LINK_KIND_OPTIONS,
});
