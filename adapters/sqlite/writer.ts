/**
 * The writing worker: owns the only connection of the service that writes. What has arrived together is one batch
 * (threads/serve.ts), and one commit (writing/committing.ts).
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { ConnectionOptions } from './connection/connection.js';
import { serve } from './threads/serve.js';
import { committing } from './writing/committing.js';

if (parentPort) serve(parentPort, committing(workerData as ConnectionOptions));
