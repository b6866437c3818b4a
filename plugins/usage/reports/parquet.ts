// Writes a report as Parquet: strings UTF8, counts INT64, money DOUBLE; one row group for every few thousand groups.
import type { UsageSum } from '../ledger.ts'
import type { Column } from './columns.ts'

const ROW_GROUP = 5000

export async function* parquet(columns: readonly Column[], sums: AsyncIterable<UsageSum>): AsyncGenerator<Uint8Array> {
  // Loaded on first use.
  const { ByteWriter, ParquetWriter, schemaFromColumnData } = await import('hyparquet-writer')
  const writer = new ByteWriter()
  const written = (): Uint8Array => {
    const bytes = new Uint8Array(writer.getBuffer())
    // The offset in the file continues.
    writer.index = 0
    return bytes
  }
  const columnData = (rows: readonly UsageSum[]) =>
    columns.map((column) => ({ name: column.name, data: rows.map((row) => cell(column, row)), ...TYPES[column.kind] }))
  const schema = schemaFromColumnData({ columnData: columnData([]) })
  const file = new ParquetWriter({ writer, schema })
  let rows: UsageSum[] = []
  for await (const sum of sums) {
    rows.push(sum)
    if (rows.length < ROW_GROUP) continue
    await file.write({ columnData: columnData(rows), rowGroupSize: ROW_GROUP })
    rows = []
    yield written()
  }
  if (rows.length > 0) await file.write({ columnData: columnData(rows), rowGroupSize: ROW_GROUP })
  // Without groups the library writes a list without a type, which strict readers refuse.
  if (file.row_groups.length === 0) file.row_groups.push(emptyGroup(schema))
  await file.finish()
  yield written()
}

const TYPES = {
  text: { type: 'STRING', nullable: true },
  count: { type: 'INT64', nullable: false },
  usd: { type: 'DOUBLE', nullable: false },
} as const

type File = InstanceType<typeof import('hyparquet-writer').ParquetWriter>

function emptyGroup(schema: File['schema']): File['row_groups'][number] {
  const columns = schema.slice(1).map(({ name, type }) => ({
    file_offset: 4n,
    meta_data: {
      type: type as NonNullable<typeof type>,
      encodings: ['PLAIN' as const],
      path_in_schema: [name],
      codec: 'UNCOMPRESSED' as const,
      num_values: 0n,
      total_uncompressed_size: 0n,
      total_compressed_size: 0n,
      data_page_offset: 4n,
    },
  }))
  return { columns, total_byte_size: 0n, num_rows: 0n }
}

function cell({ kind, value }: Column, row: UsageSum): string | number | bigint | null {
  const found = value(row)
  if (kind === 'count') return BigInt(found as number)
  return kind === 'usd' ? (found as number) / 1e9 : found
}
