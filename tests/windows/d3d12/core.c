// Direct3D 12 of Debian's libvkd3d, for d3d12.c. This is a separate file, because the headers of vkd3d and Wine declare
// the same types.

#include <string.h>
#include <vkd3d.h>

HRESULT core_create_device(unsigned level, const void *iid, void **device, PFN_vkd3d_signal_event signal, PFN_vkd3d_create_thread create,
                           PFN_vkd3d_join_thread join)
{
    struct vkd3d_instance_create_info instance;
    struct vkd3d_device_create_info info;
    memset(&instance, 0, sizeof instance);
    memset(&info, 0, sizeof info);
    instance.type = VKD3D_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    instance.pfn_signal_event = signal;
    instance.pfn_create_thread = create;
    instance.pfn_join_thread = join;
    instance.wchar_size = 2;
    info.type = VKD3D_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.minimum_feature_level = level;
    info.instance_create_info = &instance;
    return vkd3d_create_device(&info, iid, device);
}

HRESULT core_serialize(const void *desc, unsigned version, void **blob, void **error)
{
    return vkd3d_serialize_root_signature(desc, version, (void *)blob, (void *)error);
}

HRESULT core_serialize_versioned(const void *desc, void **blob, void **error)
{
    return vkd3d_serialize_versioned_root_signature(desc, (void *)blob, (void *)error);
}
