/** Services that all routes share. */
import type { Clock } from '../../../ports/clock.js';
import type { StorageSpace } from '../../../ports/domain/health.js';
import type { Authenticator } from '../../../ports/http.js';
import type { Ids } from '../../../ports/ids.js';
import type { Logger } from '../../../ports/logger.js';
import type { BodyReader } from '../body/body-reader.js';
import type { FairSlots } from '../limits/fair-slots.js';
import type { RequestsInFlight } from '../limits/in-flight.js';
import type { RateLimits } from '../limits/rate-limits.js';
import type { StreamServices } from '../streams/stream-services.js';
import type { OpenRequests } from '../transport/open-requests.js';
import type { RequestMetrics } from '../transport/request-metrics.js';
import type { Sending } from '../transport/send.js';
import type { WrittenTexts } from '../validation/written-texts.js';
import type { AddressOf } from '../wire/address.js';
import type { DeclaredCodes } from '../wire/declared-codes.js';
import type { standardHeaders } from '../wire/headers.js';

export interface RouteServices {
  authenticator: Authenticator;
  codes: DeclaredCodes;
  /** Null: nobody watches the free space. */
  space: StorageSpace | null;
  limits: RateLimits;
  bodies: BodyReader;
  texts: WrittenTexts;
  inFlight: RequestsInFlight;
  /** Slots for reading calls with a credential. */
  turns: FairSlots;
  /** Slots for pages without a session. */
  pageTurns: FairSlots;
  streams: StreamServices;
  sending: Sending;
  requests: OpenRequests;
  addressOf: AddressOf;
  timings: RequestMetrics;
  log: Logger;
  clock: Clock;
  ids: Ids;
  debug: boolean;
  secure: boolean;
  /** Whether GET serves a page at this address (path, query, fragment). */
  servesPage: (location: string) => boolean;
  headers: ReturnType<typeof standardHeaders>;
}
