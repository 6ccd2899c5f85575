//! Tests of the formatter. The expected strings come from glibc's `printf`.

use super::{Argument, Table};
use crate::ir::{Function, Global, GlobalVar, Inst, Module, Op, Region, Scalar, Space, Type};
use crate::pointer::global_pointer;

fn global(text: &[u8]) -> GlobalVar {
    let init = [text, &[0]].concat();
    GlobalVar { name: String::new(), space: Space::Constant, size: init.len() as u32, align: 1, init: Some(init), relocs: Vec::new() }
}

/// Creates the table of one call.
fn table(format: &str, args: &[Type], strings: &[&str]) -> Table {
    let mut function = Function::new("k", Type::Void);
    let args = args.iter().map(|&ty| function.new_value(ty)).collect();
    let result = function.new_value(Type::I32);
    let call = Inst { op: Op::Printf { format: Some(Global(0)), args }, results: vec![result], span: crate::diag::Span::NONE };
    function.body = Region { insts: vec![call] };
    let globals = std::iter::once(format).chain(strings.iter().copied()).map(|text| global(text.as_bytes())).collect();
    Table::new(&Module { functions: vec![function], globals }, 8)
}

/// Creates a buffer with one record of site 1.
fn buffer(args: &[(Type, &[u8])]) -> Vec<u8> {
    let mut record = 1_u32.to_le_bytes().to_vec();
    for (_, bytes) in args {
        record.extend_from_slice(bytes);
        record.resize(record.len().next_multiple_of(4), 0);
    }
    let count = record.len() as u32 / 4;
    [count.to_le_bytes().to_vec(), record].concat()
}

fn print(format: &str, args: &[(Type, &[u8])]) -> String {
    let types: Vec<Type> = args.iter().map(|(ty, _)| *ty).collect();
    String::from_utf8(table(format, &types, &[]).text(&buffer(args))).expect("text")
}

fn int(format: &str, value: i64) -> String {
    let long = format.contains('l');
    let bytes = value.to_le_bytes();
    let (ty, size) = if long { (Type::I64, 8) } else { (Type::I32, 4) };
    print(format, &[(ty, &bytes[..size])])
}

fn real(format: &str, value: f64) -> String {
    print(format, &[(Type::Scalar(Scalar::F64), &value.to_le_bytes())])
}

#[test]
fn integers_are_formatted_as_in_c() {
    let cases = [
        ("%d", -42, "-42"),
        ("%5d|", 42, "   42|"),
        ("%-5d|", 42, "42   |"),
        ("%05d", -42, "-0042"),
        ("%+d", 42, "+42"),
        ("% d", 42, " 42"),
        ("%+ d", 42, "+42"),
        ("%.5d", -42, "-00042"),
        ("%08.5d", 42, "   00042"),
        ("%.0d|", 0, "|"),
        ("%+.0d|", 0, "+|"),
        ("%d", i64::from(i32::MIN), "-2147483648"),
        ("%u", -1, "4294967295"),
        ("%x", 48879, "beef"),
        ("%#X", 48879, "0XBEEF"),
        ("%#x", 0, "0"),
        ("%#010x", 48879, "0x0000beef"),
        ("%#o", 8, "010"),
        ("%#o", 0, "0"),
        ("%#.0o", 0, "0"),
        ("%#.3o", 8, "010"),
        ("%hhd", 300, "44"),
        ("%hhu", -1, "255"),
        ("%hd", 65535, "-1"),
        ("%ld", i64::MIN, "-9223372036854775808"),
        ("%lu", -1, "18446744073709551615"),
        ("%lx", 0x1234_5678_9abc_def0, "123456789abcdef0"),
        ("%c", 65, "A"),
        ("%3c|", 65, "  A|"),
    ];
    for (format, value, expected) in cases {
        assert_eq!(int(format, value), expected, "{format}");
    }
}

#[test]
fn fixed_and_exponential_numbers_are_exact() {
    let cases = [
        ("%f", 0.0, "0.000000"),
        ("%f", -0.0, "-0.000000"),
        ("%f", 1.0 / 3.0, "0.333333"),
        ("%.0f", 0.5, "0"),
        ("%.0f", 1.5, "2"),
        ("%.0f", 2.5, "2"),
        ("%#.0f", 3.0, "3."),
        ("%.1f", 0.25, "0.2"),
        ("%.1f", 0.35, "0.3"),
        ("%.2f", 1.005, "1.00"),
        ("%.3f", 999.9996, "1000.000"),
        ("%.20f", 0.1, "0.10000000000000000555"),
        ("%f", 1e22, "10000000000000000000000.000000"),
        ("%.0f", 1e23, "99999999999999991611392"),
        ("%010.2f", -3.24159, "-000003.24"),
        ("%-10.2f|", 3.24159, "3.24      |"),
        ("%+.1f", 9.96, "+10.0"),
        ("%f", f64::INFINITY, "inf"),
        ("%08F", f64::NEG_INFINITY, "    -INF"),
        ("%5.1f", f64::NAN, "  nan"),
        ("%e", 0.0, "0.000000e+00"),
        ("%e", 123_456.789, "1.234568e+05"),
        ("%.0e", 12345.0, "1e+04"),
        ("%#.0e", 12345.0, "1.e+04"),
        ("%E", 1e-300, "1.000000E-300"),
        ("%.3e", 9.9996, "1.000e+01"),
        ("%e", 5e-324, "4.940656e-324"),
        ("%.16e", f64::MAX, "1.7976931348623157e+308"),
    ];
    for (format, value, expected) in cases {
        assert_eq!(real(format, value), expected, "{format}");
    }
}

#[test]
fn general_numbers_have_fixed_or_exponential_style() {
    let cases = [
        ("%g", 0.0, "0"),
        ("%g", 100_000.0, "100000"),
        ("%g", 1_000_000.0, "1e+06"),
        ("%g", 0.0001, "0.0001"),
        ("%g", 0.00001, "1e-05"),
        ("%g", 123.456, "123.456"),
        ("%.3g", 999.5, "1e+03"),
        ("%.4g", 999.5, "999.5"),
        ("%#g", 1.5, "1.50000"),
        ("%.0g", 7.5, "8"),
        ("%G", 1e-10, "1E-10"),
        ("%.10g", 0.1, "0.1"),
        ("%.17g", 0.1, "0.10000000000000001"),
        ("%8g|", 2.5, "     2.5|"),
    ];
    for (format, value, expected) in cases {
        assert_eq!(real(format, value), expected, "{format}");
    }
}

#[test]
fn hexadecimal_numbers_are_exact() {
    let cases = [
        ("%a", 1.0, "0x1p+0"),
        ("%a", 0.0, "0x0p+0"),
        ("%a", 0.1, "0x1.999999999999ap-4"),
        ("%A", -10.5, "-0X1.5P+3"),
        ("%.2a", 1.999, "0x2.00p+0"),
        ("%.0a", 1.5, "0x2p+0"),
        ("%.1a", 1.03125, "0x1.0p+0"),
        ("%.3a", 1.0, "0x1.000p+0"),
        ("%#a", 2.0, "0x1.p+1"),
        ("%.15a", 1.5, "0x1.800000000000000p+0"),
        ("%12a|", 1.0, "      0x1p+0|"),
        ("%012a", 1.0, "0x0000001p+0"),
    ];
    for (format, value, expected) in cases {
        assert_eq!(real(format, value), expected, "{format}");
    }
}

#[test]
fn vectors_are_separated_by_commas() {
    let floats: Vec<u8> = [1.0_f32, 2.0, 3.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    assert_eq!(print("f4 = %2.2v4hlf\n", &[(Type::Vector(Scalar::F32, 4), &floats)]), "f4 = 1.00,2.00,3.00,4.00\n");
    assert_eq!(print("uc = %#v4hhx\n", &[(Type::Vector(Scalar::I8, 4), &[0xfa, 0xfb, 0xfc, 0xfd])]), "uc = 0xfa,0xfb,0xfc,0xfd\n");
    let shorts = [0xff, 0xff, 1, 0, 2, 0];
    assert_eq!(print("%v3hd", &[(Type::Vector(Scalar::I16, 3), &shorts)]), "-1,1,2");
    let halves = [0x00, 0x3c, 0x00, 0xc0];
    assert_eq!(print("%5.1v2hf", &[(Type::Vector(Scalar::F16, 2), &halves)]), "  1.0, -2.0");
}

#[test]
fn strings_are_found_by_their_pointers() {
    let table = table("[%s|%5s|%-4s|%.2s|%s]", &[Type::I64; 5], &["abc", "de"]);
    // Constants are at multiples of 16 bytes. The format needs two multiples.
    let place = [0, 32, 48];
    let at = |number: usize, offset: i64| global_pointer(Space::Constant, place[number] + offset, 8).to_le_bytes();
    let pointers = [at(1, 0), at(2, 0), at(2, 1), at(1, 0), 0_u64.to_le_bytes()];
    let record: Vec<(Type, &[u8])> = pointers.iter().map(|bytes| (Type::I64, &bytes[..])).collect();
    assert_eq!(String::from_utf8(table.text(&buffer(&record))).expect("text"), "[abc|   de|e   |ab|(null)]");
}

#[test]
fn a_full_buffer_ends_at_the_last_complete_record() {
    let table = table("%d;", &[Type::I32], &[]);
    let words: Vec<u32> = vec![7, 1, 5, 1, 6, 0, 9, 9];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(table.text(&bytes), b"5;6;");
    // A count beyond the buffer, and a count that cuts a record.
    assert_eq!(table.text(&[0xff; 4]), b"");
    assert_eq!(table.text(&[3, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0]), b"5;");
    assert_eq!(table.text(&[]), b"");
}

#[test]
fn missing_arguments_print_nothing() {
    assert_eq!(print("%d %d.", &[(Type::I32, &[1, 0, 0, 0])]), "1 .");
    assert_eq!(Argument::new(Type::I32, &[]).lanes, Vec::<u64>::new());
}
