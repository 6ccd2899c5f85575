class Wgcl < Formula
  desc "OpenCL driver for CPUs, in pure Rust"
  homepage "@address@"
  url "@address@/releases/download/v@version@/@source@"
  sha256 "@source_sha256@"
  license any_of: [@licenses@]

  depends_on "rust" => :build
  depends_on "opencl-icd-loader"

  # The archive contains the sources of all crates.
  def install
    system "cargo", "build", "--release", "--offline", "--frozen", "--package", "wgcl", "--package", "wgclc"
    lib.install "target/release/#{shared_library("libwgcl")}"
    bin.install "target/release/wgclc"
    man1.mkpath
    (man1/"wgclc.1").write Utils.safe_popen_read(bin/"wgclc", "--manual")
    generate_completions_from_executable(bin/"wgclc", "--completions")
    (etc/"OpenCL/vendors").mkpath
    (etc/"OpenCL/vendors/wgcl.icd").atomic_write "#{lib}/#{shared_library("libwgcl")}\n"
  end

  def caveats
    <<~EOS
      Programs must use the loader of opencl-icd-loader, because Apple's OpenCL framework loads no drivers. If the loader finds no platform, set
        OCL_ICD_VENDORS=#{etc}/OpenCL/vendors
    EOS
  end

  test do
    (testpath/"twice.cl").write "kernel void twice(global int *a) { a[get_global_id(0)] *= 2; }"
    system bin/"wgclc", "--check", "twice.cl"
  end
end
