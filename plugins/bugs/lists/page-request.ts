import type { ListWarnings } from '../../../ports/store/skipped-documents.js';

export interface PageRequest {
  limit?: number;
  cursor?: string | null;
  include_total?: boolean;
}

export interface PageResponse extends ListWarnings {
  items: object[];
  next_cursor: string | null;
  has_more: boolean;
  total?: number;
}
