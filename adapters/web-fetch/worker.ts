// The thread that converts pages.
import { parentPort } from 'node:worker_threads'
import { type ConvertRequest, convertHtml } from './convert.ts'

parentPort?.on('message', ({ id, request }: { id: number; request: ConvertRequest }) => {
  try {
    parentPort?.postMessage({ id, converted: convertHtml(request) })
  } catch {
    parentPort?.postMessage({ id, converted: null })
  }
})
